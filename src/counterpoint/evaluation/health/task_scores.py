"""What the scores of a method's own comparisons say: how well is the task solved?"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from counterpoint.framework import Scores
from counterpoint.framework.precision import at_least_fp32
from counterpoint.framework.records import NOBODY
from counterpoint.parts.losses.softmax import squash

MAX_SCORES = 1 << 24  # scores that are held at once, as 4,096 x 4,096: 64 MB of fp32
ANCHORS = 1024  # of these top-1 has a standard error of at most 0.016: enough for a verdict
BINS = 40  # of a histogram; our choice: steps of 0.05 of a cosine
WIDE = 20.0  # half the histogram's width for scores without a bound: AMDIM's clip


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Some anchors' scores with all candidates, and the role of each candidate.

    A candidate is a positive, a negative, or neither: the anchor itself, or another's positive
    that is nobody's negative.
    """

    score: Float[Tensor, "anchor candidate"]
    positive: Bool[Tensor, "anchor candidate"]
    negative: Bool[Tensor, "anchor candidate"]

    @property
    def asked(self) -> Bool[Tensor, " anchor"]:
        """The anchors that have a positive and a negative."""
        return self.positive.any(dim=1) & self.negative.any(dim=1)


def table(scores: Scores, *, anchors: int = ANCHORS) -> ScoreTable:
    """Work out the scores of some anchors, evenly spaced among all, and never too many.

    >>> from counterpoint.framework import Scores
    >>> r, who = torch.eye(2), torch.arange(2)
    >>> scores = Scores(anchors=r, candidates=r, anchor_identity=who, candidate_identity=who)
    >>> table(scores).positive.tolist()
    [[True, False], [False, True]]
    """
    most = max(1, min(anchors, MAX_SCORES // max(1, len(scores.candidates)), len(scores.anchors)))
    row = torch.linspace(0, len(scores.anchors) - 1, most, device=scores.anchors.device).long()
    chosen, candidates = at_least_fp32(scores.anchors)[row], at_least_fp32(scores.candidates)
    who, whose = scores.anchor_identity.to(row.device), scores.candidate_identity.to(row.device)
    same = who[row, None] == whose
    other = torch.ones_like(same)
    if scores.itself is not None:
        other[torch.arange(most, device=row.device), row + scores.itself] = False
    return ScoreTable(
        score=squash(chosen @ candidates.mT, scores.clip),
        positive=same & other,
        negative=~same & other & (whose >= NOBODY),
    )


def top1(found: ScoreTable) -> Float[Tensor, ""]:
    """Return the share of anchors whose best candidate is a positive; a tie is not found.

    nan where no anchor has both a positive and a negative.

    >>> score = torch.tensor([[0.9, 0.1], [0.5, 0.5]])
    >>> mine = torch.tensor([[True, False], [True, False]])
    >>> top1(ScoreTable(score, mine, ~mine))
    tensor(0.5000, dtype=torch.float64)
    """
    best = found.score.masked_fill(~found.positive, -torch.inf).amax(dim=1)
    worst = found.score.masked_fill(~found.negative, -torch.inf).amax(dim=1)
    return (best > worst)[found.asked].double().mean()


def guessing_top1(found: ScoreTable) -> Float[Tensor, ""]:
    """Return the top-1 of a guess: the share of positives among an anchor's candidates.

    >>> mine = torch.tensor([[True, False, False, False]])
    >>> guessing_top1(ScoreTable(torch.zeros(1, 4), mine, ~mine))
    tensor(0.2500, dtype=torch.float64)
    """
    positives, negatives = (
        role[found.asked].sum(dim=1).double() for role in (found.positive, found.negative)
    )
    return (positives / (positives + negatives)).mean()


def surprise(found: ScoreTable) -> Float[Tensor, ""]:
    r"""Return the cross-entropy of a positive among the negatives, as a share of a guess's.

    $$ \log(1 + \sum_- e^{s^- - s^+}) \,/\, \log(1 + n_-) $$

    1 is what scores that are all the same have, 0 is certainty, and above 1 is worse than a
    guess: sure, and wrong. Averaged over positives, then anchors.

    >>> mine = torch.tensor([[True, False, False, False]])
    >>> surprise(ScoreTable(torch.zeros(1, 4), mine, ~mine))
    tensor(1.)
    """
    score = found.score[found.asked]
    positive, negative = found.positive[found.asked], found.negative[found.asked]
    against = score.masked_fill(~negative, -torch.inf).logsumexp(dim=1, keepdim=True)
    terms = (torch.logaddexp(score, against) - score).masked_fill(~positive, 0.0)
    guess = torch.log1p(negative.sum(dim=1).to(score))
    return (terms.sum(dim=1) / positive.sum(dim=1) / guess).mean()


def histogram(
    values: Float[Tensor, " value"], *, limit: float, bins: int = BINS
) -> Int64[Tensor, " bin"]:
    """Count values in equal bins from -limit to limit; what is outside is in the outermost.

    >>> histogram(torch.tensor([-3.0, -0.5, 0.5, 0.6]), limit=1.0, bins=2)
    tensor([2, 2])
    """
    finite = values[values.isfinite()]
    place = ((finite + limit) * (bins / (2 * limit))).floor().clamp(0, bins - 1)
    return torch.bincount(place.long(), minlength=bins)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What the scores of one comparison say."""

    top1: Float[Tensor, ""]
    chance: Float[Tensor, ""]
    surprise: Float[Tensor, ""]
    positive: Int64[Tensor, " bin"]
    negative: Int64[Tensor, " bin"]


def answers(scores: Scores, *, limit: float) -> Answers:
    """Work out one comparison; its table is forgotten."""
    there = table(scores)
    # Shares are taken in float64, which not every device has.
    found = ScoreTable(there.score.cpu(), there.positive.cpu(), there.negative.cpu())
    return Answers(
        top1(found),
        guessing_top1(found),
        surprise(found).double(),
        histogram(found.score[found.positive], limit=limit),
        histogram(found.score[found.negative], limit=limit),
    )


def limit_of(scores: Scores) -> float:
    """Return half the width of a histogram: the bound of the scores, the same at every look."""
    return WIDE if scores.bound is None else scores.bound
