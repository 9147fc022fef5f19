"""A receipt for an epoch: what was consumed, in five numbers, against what there is."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.order import Order

POWERS = 5  # 0 to 4
Sums = Int64[Tensor, "5"]


def power_sums(samples: Int64[Tensor, " sample"]) -> Sums:
    r"""Sum the powers of sample numbers, $p_k = \sum_i i^k \bmod 2^{64}$ for k = 0 to 4.

    The sums of ranks and of steps add up. A sample that is taken twice in place of another
    changes $p_1$ by their difference; samples that were mixed up would have to agree in all
    five sums to stay unseen.

    >>> power_sums(torch.tensor([0, 1, 2, 3])).tolist()
    [4, 6, 14, 36, 98]
    """
    terms = [torch.ones_like(samples)]
    for _ in range(POWERS - 1):
        terms.append(terms[-1] * samples)  # wraps around: exact modulo 2^64
    return torch.stack([term.sum() for term in terms])


def whole_sums(count: int) -> Sums:
    """Return the power sums of range(count) in closed form (Faulhaber), without going through it.

    >>> whole_sums(4).tolist()
    [4, 6, 14, 36, 98]
    """
    return torch.tensor([_wrapped(_faulhaber(count, power)) for power in range(POWERS)])


def _faulhaber(count: int, power: int) -> int:
    r"""Return $\sum_{i<n} i^k = \frac{1}{k+1} \sum_j \binom{k+1}{j} B_j n^{k+1-j}$ exactly."""
    bernoulli = (Fraction(1), Fraction(-1, 2), Fraction(1, 6), Fraction(0), Fraction(-1, 30))
    total = sum(
        (comb(power + 1, j) * bernoulli[j] * count ** (power + 1 - j) for j in range(power + 1)),
        start=Fraction(0),
    )
    return int(total / (power + 1))


def _wrapped(number: int) -> int:
    """Return an integer modulo 2^64 as a signed one."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an epoch consumed, and what it should have."""

    epoch: int
    consumed: tuple[int, ...]
    expected: tuple[int, ...]

    @property
    def right(self) -> bool:
        """Every sample of the epoch exactly once."""
        return self.consumed == self.expected


def receipt(order: Order, consumed: Sums) -> Receipt:
    """Compare the sums of all ranks with the closed form, less what the epoch leaves out."""
    expected = whole_sums(order.count) - power_sums(order.rest())
    return Receipt(order.epoch, tuple(consumed.tolist()), tuple(expected.tolist()))
