"""Numbers that the host knows, on their way to the device without a wait."""

from collections.abc import Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

Numbers = Int64[Tensor, "*shape"]


def send(numbers: Numbers, device: torch.device) -> Numbers:
    """Copy to a device; the host continues while the copy is under way.

    >>> send(torch.arange(3), torch.device("cpu"))
    tensor([0, 1, 2])
    """
    if numbers.device == device:
        return numbers
    pinned = numbers.pin_memory() if device.type == "cuda" else numbers
    return pinned.to(device, non_blocking=True)


def send_together(
    lists: Sequence[Int64[Tensor, " _"]], device: torch.device
) -> tuple[Int64[Tensor, " _"], ...]:
    """Copy several lists in one go: each copy costs the same few microseconds, however small.

    >>> send_together([torch.arange(2), torch.arange(1)], torch.device("cpu"))
    (tensor([0, 1]), tensor([0]))
    """
    if all(numbers.device == device for numbers in lists):
        return tuple(lists)
    lengths = [len(numbers) for numbers in lists]
    return tuple(torch.split(send(torch.cat(list(lists)), device), lengths))
