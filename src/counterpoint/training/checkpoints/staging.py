"""Room on the host for what a thread writes while training continues."""

import mmap
import threading
from collections.abc import Mapping

import torch
from torch import Tensor

from counterpoint.training.daemon_threads import start_daemon

ALIGNED = 64  # bytes


class HostStage:
    """Copies of tensors in one block of memory, which is kept for the next checkpoint.

    >>> HostStage().copy({"a": torch.arange(3)})
    {'a': tensor([0, 1, 2])}
    """

    def __init__(self) -> None:
        self._block = torch.empty(0, dtype=torch.uint8)
        self._asking: threading.Thread | None = None

    def prepare(self, size: int, *, pinned: bool) -> None:
        """Ask the system for memory in a thread, before the first copy: that takes seconds."""

        def ask() -> None:
            self._block = _room(size, pinned=pinned).zero_()

        self._asking = start_daemon(ask, "checkpoint memory")

    def ready(self) -> None:
        """Wait until there is the memory that was asked for."""
        if self._asking is not None:
            self._asking.join()
            self._asking = None

    def copy(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Copy tensors; what an earlier call gave is overwritten."""
        self.ready()
        sizes = [-(-tensor.nbytes // ALIGNED) * ALIGNED for tensor in tensors.values()]
        pinned = any(tensor.is_cuda for tensor in tensors.values())
        if sum(sizes) > len(self._block):
            self._block = torch.empty(0, dtype=torch.uint8)  # before there are two of them
            self._block = _room(sum(sizes), pinned=pinned)
        found: dict[str, Tensor] = {}
        place = 0
        for (name, tensor), size in zip(tensors.items(), sizes, strict=True):
            own = self._block[place : place + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
            own.copy_(tensor, non_blocking=pinned)
            found[name] = own
            place += size
        if pinned:
            torch.cuda.current_stream().synchronize()
        return found


def _room(size: int, *, pinned: bool) -> Tensor:
    """Make room: pinned for a GPU, else of large pages, which the system gives quickly."""
    if pinned or size == 0:
        return torch.empty(size, dtype=torch.uint8, pin_memory=pinned)
    block = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(block, dtype=torch.uint8)
