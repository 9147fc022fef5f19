"""What cannot be read: why, and what stands in its place."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from counterpoint.framework.philox import philox

Kind = Literal["missing", "empty", "not an image", "truncated", "no pixels", "too large"]
KINDS: tuple[Kind, ...] = get_args(Kind)

SUBSTITUTE_KEY = (0x73756273, 0)  # "subs": a stream of its own
ATTEMPTS = 64  # with half of all samples bad, all 64 are bad once in 2^64


@dataclass(frozen=True, slots=True)
class Bad:
    """A sample that cannot be read."""

    sample: int
    kind: Kind


def substitutes(sample: int, count: int) -> Iterator[int]:
    """Return the samples that may stand in for one: a function of its number alone.

    The first that can be read is taken, so that who stands in for whom depends on which
    samples are bad and on nothing else: no epoch, rank, worker or moment of discovery.

    >>> list(substitutes(7, 100))[:4]
    [63, 77, 4, 37]
    """
    attempt = torch.arange(ATTEMPTS)
    zero = torch.zeros_like(attempt)
    high, low, _, _ = philox((attempt, zero + sample, zero + (sample >> 32), zero), SUBSTITUTE_KEY)
    yield from (((high << 21) ^ low) % count).tolist()


def substitute(sample: int, count: int, *, readable: Callable[[int], bool]) -> int:
    """Return the first substitute of a sample that can be read."""
    for other in substitutes(sample, count):
        if readable(other):
            return other
    raise ValueError(
        f"data: none of {ATTEMPTS} samples drawn to stand in for sample {sample} can be read; "
        "look at the files: counterpoint doctor lists what is broken"
    )
