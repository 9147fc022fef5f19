r"""The one softmax: what every loss needs of the n x m scores, without holding them.

An anchor needs its positive scores and one number or a few for its negatives: their log-sum-exp
for the NCE family, their maximum for the triplet loss, nothing for a regression. The scores are
computed tile by tile and forgotten; the backward pass computes them again.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import NOBODY
from counterpoint.framework.sending import send, send_together
from counterpoint.parts.losses.largest import Largest
from counterpoint.parts.losses.pairs import Positives, positive_pairs
from counterpoint.parts.losses.reductions import LogSumExp, Reduction
from counterpoint.parts.losses.slice_plan import SlicePlan, slice_plan
from counterpoint.parts.losses.sliced import Sliced
from counterpoint.parts.losses.sliced_dots import SlicedDots, largest_in_slices
from counterpoint.parts.losses.tiled import Product, Tiled
from counterpoint.parts.losses.tiles import walk

TILE = 1024  # 4 MB of fp32 scores: docs/decisions/0003-one-softmax.md has the measurement


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The score of every positive pair, and one number per anchor for its negatives, or several."""

    positive: Float[Tensor, " pair"]
    pairs: Positives
    negative: Float[Tensor, " anchor"]
    more: tuple[Float[Tensor, " anchor"], ...] = ()
    """The numbers of further reductions."""

    @property
    def anchor(self) -> Int64[Tensor, " pair"]:
        """The anchor of every positive pair."""
        return self.pairs.anchor

    @property
    def negatives(self) -> tuple[Float[Tensor, " anchor"], ...]:
        """The numbers of all reductions, in the order in which they were asked for."""
        return self.negative, *self.more


def summarise(
    scores: Scores, *, over: tuple[Reduction, ...] = (LogSumExp(),), tile: int = TILE
) -> Summary:
    r"""Return s^+ of every positive pair, and the reductions of every anchor's negatives.

    $$ s_{ij} = squash(\langle a_i, c_j \rangle), \quad
       negative_i = \log \sum_{j: id_j \ne id_i} e^{s_{ij}} $$

    with the default; one walk serves any number of reductions. An anchor without negatives has
    -inf. Half precision is computed in fp32.

    >>> z = torch.zeros(4, 2)
    >>> images = torch.tensor([0, 1, 0, 1])
    >>> scores = Scores(
    ...     anchors=z, candidates=z, anchor_identity=images, candidate_identity=images,
    ...     itself=0, shared=True,
    ... )
    >>> summarise(scores).negative.exp()  # two candidates of the other image, all scores are 0
    tensor([2., 2., 2., 2.])
    >>> from counterpoint.parts.losses.reductions import SoftplusSum
    >>> one, other = summarise(scores, over=(LogSumExp(), SoftplusSum())).negatives
    >>> other.exp()
    tensor([4., 4., 4., 4.])
    """
    assert over, "a loss that needs no negatives takes `positives`"
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    bound = _bound(scores)
    if scores.slices is not None:
        slices = slice_plan(scores, size=tile)
        found = Sliced.apply(anchors, candidates, slices, scores.clip, over, bound)
        return _summary(slices.positives, *found)
    if (loud := negatives_only(scores)) is not None:
        of_negatives = summarise(loud, over=over, tile=tile)
        return replace(positives(scores), negative=of_negatives.negative, more=of_negatives.more)
    plan = walk(scores, size=tile)
    return _summary(
        plan.positives, *Tiled.apply(anchors, candidates, plan, scores.clip, over, bound)
    )


def _summary(pairs: Positives, positive: Tensor, negative: Tensor, *more: Tensor) -> Summary:
    return Summary(positive, pairs, negative, more)


def hardest(scores: Scores, *, tile: int = TILE) -> Summary:
    """Return s^+ of every positive pair and the largest s^- of every anchor.

    The walk only finds which candidate that is; its score is then an ordinary dot product.
    An anchor without negatives has -inf.
    """
    if scores.slices is not None:
        return _hardest_in_slices(scores, slice_plan(scores, size=tile))
    if (loud := negatives_only(scores)) is not None:
        found = positives(scores)  # its negatives are -inf
        if not len(loud.candidates):
            return found
        return replace(found, negative=hardest(loud, tile=tile).negative)
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    plan = walk(scores, size=tile)
    with without_autocast(anchors.device):
        largest = Largest.start(anchors.detach())
        largest.look(Product(anchors.detach(), candidates.detach(), plan, scores.clip))
    best = largest.column
    score = squash((anchors * candidates[best.clamp(min=0)]).sum(dim=1), scores.clip)
    negative = score.masked_fill(best < 0, -torch.inf)
    positive = _dots(anchors, candidates, plan.positives, scores.clip)
    return Summary(positive, plan.positives, negative)


def _hardest_in_slices(scores: Scores, plan: SlicePlan) -> Summary:
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    best = largest_in_slices(anchors.detach(), candidates.detach(), plan, scores.clip)
    positive, hard = SlicedDots.apply(anchors, candidates, plan, best)
    negative = squash(hard, scores.clip).masked_fill(best < 0, -torch.inf)
    return Summary(squash(positive, scores.clip), plan.positives, negative)


def positives(scores: Scores) -> Summary:
    """Return s^+ of every positive pair only; the negatives are not looked at and are -inf."""
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    found = positive_pairs(scores.anchor_identity, scores.candidate_identity, itself=scores.itself)
    pairs = Positives.of_lists(send_together(found.lists(), anchors.device))
    none = anchors.new_full((len(anchors),), -torch.inf)
    return Summary(_dots(anchors, candidates, pairs, scores.clip), pairs, none)


def negatives_only(scores: Scores) -> Scores | None:
    """Leave out the candidates that are only ever positives; None if there are none of them."""
    identity = scores.candidate_identity.cpu()
    loud = (identity >= NOBODY).nonzero()[:, 0]
    if len(loud) == len(identity):
        return None
    assert scores.itself is None, "only-positive candidates are never the anchors themselves"
    start = int(loud[0]) if len(loud) else 0
    if len(loud) and int(loud[-1]) - start == len(loud) - 1:  # side by side: no copy
        candidates = scores.candidates[start : start + len(loud)]
    else:
        candidates = scores.candidates[send(loud, scores.candidates.device)]
    return replace(scores, candidates=candidates, candidate_identity=identity[loud])


def squash(scores: Tensor, clip: float | None) -> Tensor:
    """Bend scores to c tanh(s / c), AMDIM's clip; None leaves them."""
    return scores if clip is None else clip * torch.tanh(scores / clip)


def _bound(scores: Scores) -> float:
    """Limit |s| as far as it is known without a look at the vectors, for which the host waits."""
    limits = [limit for limit in (scores.bound, scores.clip) if limit is not None]
    return min(limits, default=torch.inf)


def _dots(anchors: Tensor, candidates: Tensor, pairs: Positives, clip: float | None) -> Tensor:
    # Not vecdot: autocast computes that in half precision.
    return squash((anchors[pairs.anchor] * candidates[pairs.candidate]).sum(dim=1), clip)
