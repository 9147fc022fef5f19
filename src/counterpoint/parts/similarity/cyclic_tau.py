"""A temperature that swings between two values as training goes on."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import Comparison, PartError, Scores, Similarity, World
from counterpoint.framework.contracts import BuiltSimilarity


@dataclass(frozen=True, slots=True, kw_only=True)
class CyclicTau:
    r"""Another similarity over a tau that is a cosine of the share p of training that is done.

    $$ \Phi(a, b) / \tau(p), \quad
       \tau(p) = \tau_- + (\tau_+ - \tau_-) \frac{1 + \cos(2 \pi c p)}{2} $$

    with c cycles (Kukleva et al. 2023, algorithm 1). A large tau brings groups together, a small
    one tells instances apart. Give the similarity inside a tau of 1, since scores are divided
    by both.

    >>> from counterpoint.parts.similarity import ProjectedCosine
    >>> swing = CyclicTau(of=ProjectedCosine(tau=1.0), cycles=2)
    >>> [round(swing.tau_at(p), 3) for p in (0, 0.125, 0.25, 0.5)]
    [1.0, 0.55, 0.1, 1.0]
    >>> swing.build(64, 64).bound  # of the lowest tau
    10.0
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    of: Similarity
    lowest: float = 0.1  # Kukleva et al. 2023, algorithm 1
    highest: float = 1.0  # the same
    cycles: float = 5.0  # annusha/temperature_schedules, README: 2,000 epochs, --t_max 200 is half
    """How often tau is at its lowest."""

    def __post_init__(self) -> None:
        if not 0 < self.lowest <= self.highest or not self.cycles > 0:
            raise PartError(
                "similarity",
                got=f"lowest={self.lowest}, highest={self.highest}, cycles={self.cycles}",
                needs="0 < lowest <= highest, and cycles > 0",
            )

    def tau_at(self, progress: float) -> float:
        """Return tau after a share of all updates."""
        up = (1 + math.cos(2 * math.pi * self.cycles * progress)) / 2
        return self.lowest + (self.highest - self.lowest) * up

    def build(self, anchor: int, candidate: int) -> "CyclicSimilarity":
        return CyclicSimilarity(self, self.of.build(anchor, candidate))

    def __str__(self) -> str:
        times = f"{self.cycles:g} times"
        return f"{self.of}, tau {self.highest:g} to {self.lowest:g} and back, {times}"


class CyclicSimilarity(nn.Module):
    """The built similarity inside, and how its scores are divided."""

    cosine = False  # over a tau that changes

    def __init__(self, settings: CyclicTau, of: BuiltSimilarity) -> None:
        super().__init__()
        self.settings, self.of = settings, of
        self.bound = None if of.bound is None else of.bound / settings.lowest

    def forward(self, comparison: Comparison, world: World) -> Scores:
        scores = self.of(comparison, world)
        if scores.clip is not None:
            raise PartError(
                "similarity",
                got="scores that are clipped",
                needs="scores that can be divided by tau",
                do="set clip=None inside of CyclicTau",
            )
        scale = 1 / self.settings.tau_at(comparison.progress)
        # Half on each side keeps anchors and candidates the same vectors.
        left, right = (scale**0.5, scale**0.5) if scores.shared else (scale, 1.0)
        anchors, candidates = scores.anchors * left, scores.candidates * right
        return replace(scores, anchors=anchors, candidates=candidates, bound=self.bound)
