"""A similarity with a learned bias, for losses that judge each pair by itself."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import nn

from counterpoint.framework import Comparison, Scores, Similarity, World
from counterpoint.framework.contracts import BuiltSimilarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Biased:
    r"""Another similarity plus a learned number, s + b (SigLIP: Zhai et al. 2023).

    A pair of vectors gets two more channels, (b/2, 1) and (1, b/2), so scores are still one
    product, and still symmetric where those inside are.

    >>> from counterpoint.parts.similarity import ProjectedCosine
    >>> print(Biased(of=ProjectedCosine(tau=0.1, learn_tau=True)))  # doctest: +ELLIPSIS
    ProjectedCosine(...learn_tau=True...), plus a learned b from -10
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    of: Similarity
    bias: float = -10.0  # big_vision, configs/proj/image_text/SigLIP_demo.ipynb, bias_init
    """Where it starts. Low, because nearly all pairs are negatives."""

    def build(self, anchor: int, candidate: int) -> "BiasedSimilarity":
        return BiasedSimilarity(self.of.build(anchor, candidate), self.bias)

    def __str__(self) -> str:
        return f"{self.of}, plus a learned b from {self.bias:g}"


class BiasedSimilarity(nn.Module):
    """A built similarity and its bias, whose size nobody knows beforehand."""

    bound: float | None = None

    def __init__(self, of: BuiltSimilarity, bias: float) -> None:
        super().__init__()
        self.of = of
        # Of one number in a row: a weight without dimensions cannot be shared out over ranks.
        self.bias = nn.Parameter(torch.tensor([bias]))

    def forward(self, comparison: Comparison, world: World) -> Scores:
        scores = self.of(comparison, world)
        anchors, candidates = scores.anchors, scores.candidates
        half = (self.bias / 2).to(anchors.dtype)
        ends = [torch.stack([half, torch.ones_like(half)], dim=1)]
        ends.append(ends[0].flip(1))
        return replace(
            scores,
            anchors=torch.cat([anchors, ends[0].expand(len(anchors), 2)], dim=1),
            candidates=torch.cat([candidates, ends[1].expand(len(candidates), 2)], dim=1),
            bound=None,
        )
