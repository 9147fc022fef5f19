r"""The one softmax: what every loss needs of the n x m scores, without holding them.

An anchor needs its positive scores and one number for its negatives: their log-sum-exp for
the NCE family, their maximum for the triplet loss, nothing for a regression. The scores are
computed tile by tile and forgotten; the backward pass computes them again.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.framework.precision import at_least_fp32
from counterpoint.framework.records import NOBODY
from counterpoint.parts.losses.pairs import positive_pairs
from counterpoint.parts.losses.tiled import Job, Tiled, argmax_negatives
from counterpoint.parts.losses.tiles import walk

TILE = 1024  # 4 MB of fp32 scores: docs/decisions/0003-one-softmax.md has the measurement

# Below this |s| a sum of exp(s) neither overflows nor loses its smallest terms, for any number
# of candidates up to 10^9: no maximum has to be found and subtracted.
SAFE = {torch.float32: 60.0, torch.float64: 600.0}


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The positive scores with the anchor of each, and one number per anchor for its negatives."""

    positive: Float[Tensor, " pair"]
    anchor: Int64[Tensor, " pair"]
    negative: Float[Tensor, " anchor"]


def summarise(scores: Scores, *, tile: int = TILE) -> Summary:
    r"""Give s^+ of every positive pair and log sum exp s^- of every anchor's negatives.

    $$ s_{ij} = squash(\langle a_i, c_j \rangle), \quad
       negative_i = \log \sum_{j: id_j \ne id_i} e^{s_{ij}} $$

    An anchor without negatives has -inf. Half precision is computed in fp32.

    >>> z = torch.zeros(4, 2)
    >>> images = torch.tensor([0, 1, 0, 1])
    >>> summary = summarise(
    ...     Scores(anchors=z, candidates=z, anchor_identity=images, candidate_identity=images,
    ...            itself=0, shared=True)
    ... )
    >>> summary.negative.exp()  # two candidates of the other image, all scores are 0
    tensor([2., 2., 2., 2.])
    """
    if (loud := _negatives_only(scores)) is not None:
        pairs = positives(scores)
        return Summary(pairs.positive, pairs.anchor, summarise(loud, tile=tile).negative)
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    plan = walk(scores, size=tile)
    safe = _bound(anchors, candidates, scores) < SAFE[anchors.dtype]
    positive, negative = Tiled.apply(anchors, candidates, plan, scores.clip, safe)
    return Summary(positive, plan.anchor, negative)


def hardest(scores: Scores, *, tile: int = TILE) -> Summary:
    """Give s^+ of every positive pair and the largest s^- of every anchor.

    The walk only finds which candidate that is; its score is then an ordinary dot product.
    An anchor without negatives has -inf.
    """
    if (loud := _negatives_only(scores)) is not None:
        pairs = positives(scores)
        return Summary(pairs.positive, pairs.anchor, hardest(loud, tile=tile).negative)
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    plan = walk(scores, size=tile)
    best = argmax_negatives(Job(anchors.detach(), candidates.detach(), plan, scores.clip))
    score = squash(torch.linalg.vecdot(anchors, candidates[best.clamp(min=0)]), scores.clip)
    negative = score.masked_fill(best < 0, -torch.inf)
    positive = _dots(anchors, candidates, plan.anchor, plan.candidate, scores.clip)
    return Summary(positive, plan.anchor, negative)


def positives(scores: Scores) -> Summary:
    """Give s^+ of every positive pair only; the negatives are not looked at and are -inf."""
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    anchor, candidate = positive_pairs(
        scores.anchor_identity, scores.candidate_identity, itself=scores.itself
    )
    none = anchors.new_full((len(anchors),), -torch.inf)
    return Summary(_dots(anchors, candidates, anchor, candidate, scores.clip), anchor, none)


def _negatives_only(scores: Scores) -> Scores | None:
    """Leave out the candidates that are only ever positives; None if there are none of them."""
    silent = scores.candidate_identity < NOBODY
    if not bool(silent.any()):
        return None
    assert scores.itself is None, "only-positive candidates are never the anchors themselves"
    return replace(
        scores,
        candidates=scores.candidates[~silent],
        candidate_identity=scores.candidate_identity[~silent],
    )


def squash(scores: Tensor, clip: float | None) -> Tensor:
    """Bend scores to c tanh(s / c), AMDIM's clip; None leaves them."""
    return scores if clip is None else clip * torch.tanh(scores / clip)


def _bound(anchors: Tensor, candidates: Tensor, scores: Scores) -> float:
    """Limit |s|: known from the similarity, or by Cauchy-Schwarz, and never above the clip."""
    limit = torch.inf if scores.clip is None else scores.clip
    if scores.bound is not None:
        return min(scores.bound, limit)
    longest = [v.detach().norm(dim=1).amax() for v in (anchors, candidates) if len(v)]
    return min(float(torch.stack(longest).prod()), limit) if len(longest) == 2 else 0.0


def _dots(
    anchors: Tensor, candidates: Tensor, anchor: Tensor, candidate: Tensor, clip: float | None
) -> Tensor:
    return squash(torch.linalg.vecdot(anchors[anchor], candidates[candidate]), clip)
