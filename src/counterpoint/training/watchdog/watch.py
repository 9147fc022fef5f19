"""The threads of the watchdog: one says how this rank is, and rank 0 judges all of them."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import torch
import torch.distributed as dist

from counterpoint.training.daemon_threads import start_daemon
from counterpoint.training.watchdog.judge import Judge, Stall
from counterpoint.training.watchdog.peers import Peers, roll_call
from counterpoint.training.watchdog.processes import end, leave
from counterpoint.training.watchdog.status import LONG, RankStatus, StatusReporter
from counterpoint.training.watchdog.status_store import BROKEN, StatusStore, open_status_store

LOST = "lost"  # the name under which rank 0 writes its verdict
SOON = 0.5  # seconds that the others get to read it
MOST = 1.0  # seconds between two looks that count: a process that was stopped did not wait
THEN = "rerun with --resume auto to continue"


class Watch:
    """Watch over this rank and the others until `ended` is set."""

    def __init__(self, speaker: StatusReporter, *, patience: float) -> None:
        self.speaker, self.patience = speaker, patience
        self.interval = min(1.0, patience / 20)
        self.ended = threading.Event()
        self.threads: list[threading.Thread] = []
        self.neighbours: Peers | None = None
        self.meeting: StatusStore | None = None
        self.unanswered = 0.0
        """Seconds since rank 0 gave a sign, on another rank."""
        self.asking, self.asked = False, 0.0
        """Whether its store is being asked, and for how many seconds it has not answered."""
        self.first_words = ""
        """The last words of rank 0, whose store goes with it."""

    def begin(self, device: torch.device, ranks: int) -> None:
        """Start the threads; all ranks call this together."""
        if ranks == 1:
            self._start(self._alone)
            return
        self.neighbours = roll_call(device)
        self.meeting = open_status_store(self.neighbours, device, timeout=self.patience)
        self.meeting.say(_sign(self.neighbours.rank), RankStatus().write())
        dist.barrier()  # every rank has said a first word
        if self.neighbours.rank == 0:
            self._start(lambda: self._rank_0(ranks))
        else:
            self._start(self._another)
            self._start(self._impatient)

    def close(self, farewell: str = "") -> None:
        """End the watch, and tell the others that this rank has not been lost."""
        if self.ended.is_set():
            return
        self.ended.set()
        if self.meeting is not None and self.neighbours is not None:
            last = RankStatus(tick=1 << 62, over=True, where=farewell)
            if self._rank == 0 and farewell:
                self._part(last)  # the store goes with us: the others hear why first
                time.sleep(self.interval)
            else:  # beside us: rank 0 may be gone, and never answer
                start_daemon(lambda: self._part(last), "last word")

    def gone(self) -> str:
        """Name the ranks that have ended, after an exchange with them has failed."""
        if self.neighbours is None:
            return ""
        self._believe()
        dead = self.neighbours.gone() or self._left()
        if not dead and not all(self.neighbours.here):
            dead = self._silent()
        if not dead:
            return ""
        words = ", ".join(map(self.neighbours.name, dead)) + " has ended" + self._farewell(dead)
        if self.neighbours.rank == 0 and not all(self.neighbours.here):
            self._tell(Stall(tuple(dead), why="has ended"), words)
        return words

    # The threads.

    def _start(self, work: Callable[[], None]) -> None:
        self.threads.append(start_daemon(work, "watch"))

    def _alone(self) -> None:
        judge = Judge(1, patience=self.patience)
        for elapsed in self._ticks():
            verdict = judge.look([self.speaker.say(elapsed)], elapsed)
            if verdict is not None:
                leave(verdict.words(["this run"], THEN), verdict.code)

    def _rank_0(self, ranks: int) -> None:
        """Say how this rank is, hear all, and judge."""
        assert self.meeting is not None
        assert self.neighbours is not None
        judge = Judge(ranks, patience=self.patience)
        names = [_sign(rank) for rank in range(ranks)]
        for elapsed in self._ticks():
            self._say(self.speaker.say(elapsed))
            try:
                heard = [_read(words) for words in self.meeting.heard(names)]
            except BROKEN:
                heard = [None] * ranks
            computing = [r for r in range(1, ranks) if self.neighbours.computes(r)]
            verdict = judge.look(heard, elapsed, computing)
            if verdict is not None:
                self._leave(verdict)

    def _another(self) -> None:
        """Say how this rank is, and believe rank 0."""
        assert self.meeting is not None
        seen = RankStatus()
        for elapsed in self._ticks():
            said = self.speaker.say(elapsed)
            self.asking = True
            try:
                self.meeting.say(_sign(self._rank), said.write())
                first = _read(self.meeting.heard([_sign(0)])[0])
            except BROKEN:
                return  # rank 0 has ended: the main thread knows, or soon will
            self._believe()
            self.asking, self.asked = False, 0.0
            if first is not None and first.tick > seen.tick:
                seen, self.unanswered = first, -math.inf if first.over else 0.0
                self.first_words = first.where if first.over else ""

    def _impatient(self) -> None:
        """Name a rank 0 that stands still: the thread that asks it waits for ever.

        The store answers as long as its process lives; the threads of that process may be silent
        for a while because one of them holds Python's lock.
        """
        assert self.neighbours is not None
        for elapsed in self._ticks():
            self.asked += elapsed * self.asking
            self.unanswered += elapsed / LONG if self.neighbours.computes(0) else elapsed
            silent = max(self.asked, self.unanswered)
            if silent > self.patience:
                why = f"has given no sign of life for {silent:.0f} s"
                self._leave(Stall((0,), why=why, code=self.speaker.asked() or 1, silent=True))

    def _ticks(self) -> Iterator[float]:
        """Return the seconds between two looks until the run ends."""
        before = time.monotonic()
        while not self.ended.wait(self.interval):
            now = time.monotonic()
            yield min(now - before, max(MOST, 2 * self.interval))
            before = now

    # Words.

    @property
    def _rank(self) -> int:
        return 0 if self.neighbours is None else self.neighbours.rank

    def _say(self, said: RankStatus) -> None:
        assert self.meeting is not None
        with suppress(*BROKEN):
            self.meeting.say(_sign(self._rank), said.write())

    def _believe(self) -> None:
        """End this rank with the verdict of rank 0, if there is one."""
        assert self.meeting is not None
        try:
            lost = self.meeting.heard_of(LOST)
        except BROKEN:
            return
        if lost is not None:
            code, _, words = lost.decode().partition(" ")
            leave(words, int(code))

    def _part(self, last: RankStatus) -> None:
        """Say the last word, and once more when no other thread can say another."""
        self._say(last)
        for thread in self.threads:
            thread.join(self.interval)
        self._say(last)

    def _leave(self, verdict: Stall) -> None:
        """Say who it is on all ranks, and end this one."""
        assert self.neighbours is not None
        names = {rank: self.neighbours.name(rank) for rank in verdict.ranks}
        seen = self.neighbours.state(verdict.ranks[0]) if verdict.silent else ""
        words = verdict.words(names, f"this rank stops too; {THEN}", seen=seen)
        if self._rank == 0:
            self._tell(verdict, words)
        for pid in self.neighbours.stopped_children(verdict.ranks):
            end(pid)
        leave(words, verdict.code)

    def _tell(self, verdict: Stall, words: str) -> None:
        """Write a verdict where the other ranks see it, and give them time to."""
        assert self.meeting is not None
        with suppress(*BROKEN):
            self.meeting.say(LOST, f"{verdict.code} {words}".encode())
        time.sleep(SOON + self.interval)

    def _silent(self) -> list[int]:
        """List the ranks that say nothing any more; rank 0 when its store is gone."""
        assert self.meeting is not None
        assert self.neighbours is not None
        ranks = [rank for rank in range(len(self.neighbours.pids)) if rank != self._rank]
        try:
            before = self.meeting.heard([_sign(rank) for rank in ranks])
            time.sleep(3 * self.interval + SOON)
            after = self.meeting.heard([_sign(rank) for rank in ranks])
        except BROKEN:
            return [0]
        return [rank for rank, *two in zip(ranks, before, after, strict=True) if two[0] == two[1]]

    def _left(self) -> list[int]:
        """List the ranks that have ended by themselves, with last words."""
        return [rank for rank, words in self._last_words().items() if words]

    def _farewell(self, dead: list[int]) -> str:
        """Return the last words of a rank that ended by itself."""
        words = self.first_words if 0 in dead else ""
        words = words or self._last_words().get(dead[0], "")
        return f" ({words})" if words else ""

    def _last_words(self) -> dict[int, str]:
        assert self.meeting is not None
        assert self.neighbours is not None
        ranks = range(len(self.neighbours.pids))
        try:
            heard = [_read(words) for words in self.meeting.heard([_sign(r) for r in ranks])]
        except BROKEN:
            return {}
        signs = zip(ranks, heard, strict=True)
        return {rank: said.where for rank, said in signs if said is not None and said.over}


def _sign(rank: int) -> str:
    return f"sign/{rank}"


def _read(words: bytes | None) -> RankStatus | None:
    return None if words is None else RankStatus.read(words)
