"""Alignment of positives, uniformity of all vectors of a view."""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.pair_sums import negative_counts, pair_sums
from counterpoint.parts.losses.reductions import LogSumExp
from counterpoint.parts.losses.softmax import summarise

EQUAL = 1e-12
"""Squared distance of vectors that count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentUniformity:
    r"""Positives are near, and vectors are spread over the sphere (Wang and Isola 2020).

    $$ \mathrm{mean}\, \lVert x - x^+ \rVert^\alpha
       + \log \mathrm{mean}\, e^{-t \lVert x - y \rVert^2} $$

    The second mean is over the negatives within a view: pairs of different images, or of
    different labels where those are the identities. The uniformity is the mean over the views, as
    in the authors' code. A logarithm of a mean is not a sum over anchors: the ranks add up their
    parts of it.

    >>> z, images = torch.eye(4)[[0, 1, 0, 1]], torch.tensor([0, 1, 0, 1])
    >>> scores = Scores(
    ...     anchors=z, candidates=z, anchor_identity=images, candidate_identity=images, itself=0,
    ...     anchor_views=(2, 2), candidate_views=((2, 2),),
    ... )
    >>> AlignmentUniformity().build(1.0)(scores).total  # aligned; the other image is sqrt(2) away
    tensor(-4.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True
    needs_cosine: ClassVar[bool] = True
    average: ClassVar[str] = "batch"

    alpha: float = 2.0  # align_uniform, examples/stl10/main.py, as all defaults here
    t: float = 2.0
    alignment: float = 1.0
    """Weight of the first term."""
    uniformity: float = 1.0
    """Weight of the second."""

    def __post_init__(self) -> None:
        if not min(self.alpha, self.t) > 0:
            raise PartError("loss", got=f"alpha={self.alpha}, t={self.t}", needs="both above 0")

    def build(self, bound: float | None) -> "AlignmentUniformity":
        if bound != 1.0:
            raise PartError(
                "loss",
                got=f"scores with |s| <= {bound}",
                needs="a plain cosine, |s| <= 1: the loss is of distances on the sphere",
                do="use Cosine or ProjectedCosine with tau=1",
            )
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:
        near = pair_sums(scores, ()).sum(lambda s, _: self._distance(s))
        sums, counts = [near.total], [near.count]
        for view in within_views(scores):
            found = summarise(view, over=(LogSumExp(2 * self.t),))
            sums.append(torch.exp(found.negative - 2 * self.t).sum())
            counts.append(negative_counts(view, found).sum().to(near.count))
        there = world.sum(torch.stack(counts)).detach()
        total, *kernels = world.sum(torch.stack(sums)) / there.clamp(min=1)
        alone = there[1:] == 0  # a batch without negatives has no uniformity
        uniform = torch.stack(kernels).masked_fill(alone, 1.0).log().mean()
        loss = self.alignment * total + self.uniformity * uniform
        return Terms(loss, torch.ones_like(loss))

    def _distance(self, s: Tensor) -> Tensor:
        """Return |x - y|^alpha from the cosine; a root has no gradient at 0."""
        squared = 2 - 2 * s
        return squared if self.alpha == 2 else squared.clamp(min=EQUAL) ** (self.alpha / 2)


def within_views(scores: Scores) -> tuple[Scores, ...]:
    """Return the scores of each view's anchors with the candidates of that view, of all ranks.

    >>> z = torch.arange(8.0).view(4, 2)
    >>> scores = Scores(
    ...     anchors=z, candidates=z, anchor_identity=torch.tensor([5, 6, 5, 6]),
    ...     candidate_identity=torch.tensor([5, 6, 5, 6]), itself=0, anchor_views=(2, 2),
    ...     candidate_views=((2, 2),),
    ... )
    >>> [(len(s.anchors), s.candidate_identity.tolist()) for s in within_views(scores)]
    [(2, [5, 6]), (2, [5, 6])]
    """
    anchors, candidates = scores.anchors_by_view(), scores.candidates_by_view()
    views, others = len(scores.anchor_views), {len(rank) for rank in scores.candidate_views}
    if others != {views}:
        raise PartError(
            "extraction",
            got=f"anchors of {views} views and candidates of {sorted(others)}",
            needs="the same views on both sides: uniformity is within a view",
            do="take an encoder whose twin sees all views, or one without a twin",
        )
    whose = scores.anchor_identity.split(list(scores.anchor_views))
    lengths = [length for rank in scores.candidate_views for length in rank]
    blocks = scores.candidate_identity[: sum(lengths)].split(lengths)
    ranks = [sum(rank) for rank in scores.candidate_views]
    starts = list(accumulate(ranks, initial=0))
    mine = 0 if scores.itself is None else starts.index(scores.itself)
    return tuple(
        replace(
            scores,
            anchors=anchors[view],
            candidates=candidates[view],
            anchor_identity=whose[view],
            candidate_identity=torch.cat(blocks[view :: len(anchors)]),
            itself=None
            if scores.itself is None
            else sum(rank[view] for rank in scores.candidate_views[:mine]),
            anchor_views=(),
            candidate_views=(),
        )
        for view in range(len(anchors))
    )
