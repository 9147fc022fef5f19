"""Checkpoints written while training continues: copied inside of the step, written by a thread."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from counterpoint.framework.local_rows import is_sharded, local_rows
from counterpoint.pulse import beat
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.divided_rows import DividedRows, rows_of_rank
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.new_checkpoint import NewCheckpoint
from counterpoint.training.checkpoints.rank_shares import Leaf, leaf_bytes, own_share
from counterpoint.training.checkpoints.saving import encoded_text
from counterpoint.training.checkpoints.staging import HostStage
from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.checkpoints.tensors import on_host
from counterpoint.training.daemon_threads import end_before_exit

AROUND = 1 << 20  # bytes of what is small, and between tensors
LOOK = 0.05  # seconds between two looks at the thread
AFTER_FAILURE = 30.0  # seconds for a checkpoint that is on its way when a run fails


class ShareThread(threading.Thread):
    """The thread that writes the share of this rank, and on rank 0 what makes it a checkpoint."""

    def __init__(self, work: Callable[["ShareThread"], None]) -> None:
        super().__init__(name="checkpoint", daemon=True)
        self.work = work
        self.moves = 0
        self.why = ""
        self.own_done, self.given_up = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            self.work(self)
        except Exception as error:  # noqa: BLE001 (whatever it is, training continues)
            self.why = str(error)
        finally:
            self.own_done.set()

    def moved(self) -> None:
        """Count a piece that was written."""
        self.moves += 1

    def wait(self, over: Callable[[], bool], *, seconds: float = float("inf")) -> None:
        """Wait, and beat the pulse while the disk moves."""
        seen, end = self.moves, time.monotonic() + seconds
        while not over() and time.monotonic() < end:
            self.join(LOOK) if self.own_done.is_set() else self.own_done.wait(LOOK)
            if self.moves != seen:
                seen = self.moves
                beat()


class BackgroundSaves:
    """The checkpoints of a run as its ranks write them, one after another.

    `begin` and `settle` are called by all ranks at the same step. `shared` says whether all of
    them see the folder; if not, rank 0 writes everything.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        talk: Talk,
        *,
        alike: Callable[[str], bool],
        shared: bool = True,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self.checkpoints, self.talk, self.alike, self.after = checkpoints, talk, alike, after
        self.ranks = talk.ranks if shared else 1
        """Those that write."""
        self.stage = HostStage()
        self.thread: ShareThread | None = None

    def prepare(self, tensors: Iterable[torch.Tensor]) -> None:
        """Ask for the memory of a share of these tensors ahead of the first checkpoint."""
        tensors = list(tensors)
        own = sum(t.nbytes for t in local_rows(t for t in tensors if is_sharded(t)))
        size = own + sum(t.nbytes for t in tensors if not is_sharded(t)) // self.ranks
        if self.talk.rank < self.ranks:
            self.stage.prepare(size + size // 50 + AROUND, pinned=any(t.is_cuda for t in tensors))

    def begin(self, step: int, state: dict[str, Any]) -> str:
        """Copy a state and begin to write it; return why that cannot be, or nothing."""
        assert self.thread is None, "settle comes before the next checkpoint"
        new, why = None, ""
        leaves, text = encoded_text(step, state)
        if self.ranks < self.talk.ranks:
            leaves = gathered(leaves, self.talk)
        if self.talk.rank == 0:
            size = len(text) + sum(leaf_bytes(leaf) for leaf in leaves.values())
            try:
                new = NewCheckpoint.make(self.checkpoints, step, size=size, ranks=self.ranks)
            except CheckpointError as error:
                why = str(error)
        if said := self.talk.failure(why):
            return said
        name = self.talk.tell(new.folder.name.encode() if new is not None else b"").decode()
        if self.talk.rank < self.ranks:
            folder = self.checkpoints.folder / name
            there = NewCheckpoint(self.checkpoints, step, folder, self.talk.rank, self.ranks)
            own = own_share(leaves, rank=self.talk.rank, ranks=self.ranks, alike=self.alike)
            self._start(there, self.stage.copy(own), text)
        return ""

    def settle(self) -> str:
        """Wait for the checkpoint that is on its way; return why there is none, or nothing."""
        thread, self.thread = self.thread, None
        if self.talk.number(int(thread is not None)) == 0:  # rank 0 has one if anybody has
            return ""
        if thread is not None:
            thread.wait(thread.own_done.is_set)
        failed = self.talk.failure(thread.why if thread is not None else "")
        if thread is not None:
            if failed:
                thread.given_up.set()
            thread.wait(lambda: not thread.is_alive())
        why = thread.why if thread is not None else ""
        return self.talk.tell((failed or why).encode()).decode()

    def complaint(self) -> str:
        """Return why the checkpoint on its way has failed, if it has, as far as this rank knows."""
        thread = self.thread
        return "" if thread is None or thread.is_alive() else thread.why

    def abandon(self) -> None:
        """Wait a while for what is on its way, of a run that has failed."""
        if self.thread is not None:
            thread = self.thread
            thread.wait(lambda: not thread.is_alive(), seconds=AFTER_FAILURE)
            thread.given_up.set()

    def _start(self, new: NewCheckpoint, share: Mapping[str, torch.Tensor], text: bytes) -> None:
        def work(thread: ShareThread) -> None:
            try:
                own = new.write_share(share, done=thread.moved)
                thread.own_done.set()
                if new.rank == 0:
                    new.finish(own, text, given_up=thread.given_up)
                    self.after()
            except BaseException:
                if new.rank == 0:
                    new.remove()
                raise

        self.thread = ShareThread(work)
        self.thread.start()
        end_before_exit(self.thread)


def gathered(leaves: Mapping[str, Leaf], talk: Talk) -> dict[str, Leaf]:
    """Bring all rows to rank 0, where ranks do not see the same disk."""
    found: dict[str, Leaf] = {}
    for name, leaf in leaves.items():
        if not isinstance(leaf, DividedRows) or talk.ranks == 1:  # one rank may have all rows
            found[name] = leaf
            continue
        parts = []
        for rank in range(talk.ranks):
            rows = len(rows_of_rank(leaf.length, rank, talk.ranks))
            part = on_host(leaf.own) if rank == talk.rank else _room(leaf, rows)
            talk.send(part, src=rank)
            if talk.rank == 0:
                parts.append(part)
        found[name] = DividedRows(torch.cat(parts), 0, leaf.length) if parts else leaf
    return found


def _room(leaf: DividedRows, rows: int) -> torch.Tensor:
    return torch.empty((rows, *leaf.own.shape[1:]), dtype=leaf.own.dtype)
