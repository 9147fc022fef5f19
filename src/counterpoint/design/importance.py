"""Which of the five parts decides: the share of the differences that its kind explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

import torch

from counterpoint.evaluation.criteria.ranking import ranks
from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.methods.kinship import short_parts

DRAWS = 2_000  # our choice: a p of 0.05 is then known to 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """How much of the differences between candidates one part explains."""

    part: str
    kinds: int
    candidates: int
    share: float
    """Eta squared of the ranks: variance between kinds over all variance."""
    p: float | None = None
    """How often shuffled kinds explain as much; None where candidates are not independent draws."""

    @property
    def chance(self) -> float:
        """The share that as many kinds explain on average when they mean nothing.

        Over all orders of the values the mean of eta squared is (kinds - 1) / (candidates - 1).
        """
        return (self.kinds - 1) / (self.candidates - 1)

    @property
    def beyond(self) -> float:
        """The share beyond chance, Kelley's epsilon squared (1935); below 0 it explains nothing.

        >>> some = Importance(part="loss", kinds=3, candidates=21, share=0.55, p=0.01)
        >>> some.chance, round(some.beyond, 6)
        (0.1, 0.5)
        """
        return (self.share - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0


def explained_share(kinds: Sequence[str], values: Sequence[float]) -> float:
    r"""Return eta squared, the share of the variance of values that their kind explains.

    With $n_k$ values of kind $k$, their mean $m_k$ and the mean $m$ of all,

    $$ \eta^2 = \sum_k n_k (m_k - m)^2 / \sum_i (x_i - m)^2 $$

    Where all values are equal there is nothing to explain, and the share is 0.

    >>> explained_share(["NCE", "NCE", "triplet", "triplet"], [0.6, 0.6, 0.2, 0.2])
    1.0
    >>> explained_share(["NCE", "NCE", "triplet", "triplet"], [0.6, 0.2, 0.6, 0.2])
    0.0
    """
    groups: dict[str, list[float]] = {}
    for kind, value in zip(kinds, values, strict=True):
        groups.setdefault(kind, []).append(value)
    mean = fmean(values)
    whole = sum((value - mean) ** 2 for value in values)
    between = sum(len(group) * (fmean(group) - mean) ** 2 for group in groups.values())
    return between / whole if whole else 0.0


def shuffled_share(
    kinds: Sequence[str], values: Sequence[float], *, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return how often shuffled kinds explain at least as much: a permutation test.

    The order that was found counts as one draw, so that no answer is 0 (Phipson and Smyth 2010).

    >>> shuffled_share(["a", "a", "b", "b"], [1.0, 1.0, 1.0, 1.0], draws=10)
    1.0
    """
    names = sorted(set(kinds))
    member = torch.tensor([[kind == name for name in names] for kind in kinds]).double()
    centred = torch.tensor(values, dtype=torch.float64)
    centred = centred - centred.mean()
    generator = torch.Generator().manual_seed(seed)
    orders = torch.rand(draws, len(centred), generator=generator).argsort(dim=1)
    # The whole variance is the same in every order: only that between the kinds is compared.
    sums = torch.cat([centred[None], centred[orders]]) @ member
    between = (sums.square() / member.sum(dim=0)).sum(dim=1)
    found = between[0] * (1 - 1e-9)  # equal shares may differ in their last digit
    return (int((between[1:] >= found).sum()) + 1) / (draws + 1)


def part_importance(
    methods: Sequence[Method],
    standing: Sequence[float],
    *,
    independent: bool,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Importance]:
    """Return the importance of each part over candidates of one rung, in the parts' order.

    It is eta squared of the ranks of the standing, Kruskal and Wallis's H over n - 1 (1952): a few
    candidates that collapsed, far below all others, count as the lowest and not as far below.
    Candidates without a finite standing are left out. The kinds are `kinship.short_parts`:
    numbers such as a temperature make no other kind, so their effect is in no share.

    Only `independent` candidates have a p: those of a random search, on its first rung. Children
    are alike because of their parents, and who reaches a later rung was chosen by the standing;
    shuffling would treat both as draws of their own, and its p would be too small.

    The shares do not add up to 1. Parts that mostly came together share what they explain,
    because a search does not draw them independently.

    >>> from counterpoint.methods import simclr_small
    >>> from counterpoint.parts.losses import Triplet
    >>> one, other = simclr_small(), simclr_small().swap(loss=Triplet())
    >>> some = [one, one, other, other]
    >>> loss = part_importance(some, [0.9, 0.8, 0.1, 0.2], independent=False)[-1]
    >>> loss.part, loss.kinds, round(loss.share, 2), loss.p
    ('loss', 2, 0.8, None)
    """
    pairs = zip(methods, standing, strict=True)
    known = [(short_parts(method), value) for method, value in pairs if isfinite(value)]
    if len(known) < 2:
        raise ValueError(f"design: importance got {len(known)} finished candidates, needs two")
    values = ranks([value for _, value in known])
    found = []
    for place, part in enumerate(FIVE):
        kinds = [kind[place] for kind, _ in known]
        found.append(
            Importance(
                part=part,
                kinds=len(set(kinds)),
                candidates=len(known),
                share=explained_share(kinds, values),
                p=shuffled_share(kinds, values, draws=draws, seed=seed) if independent else None,
            )
        )
    return found
