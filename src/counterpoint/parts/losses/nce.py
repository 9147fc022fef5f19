"""The NCE family: one formula with three named switches."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.parts.losses.crowded import Mask, Rows, by_rows, crowded
from counterpoint.parts.losses.reductions import LogSumExp
from counterpoint.parts.losses.softmax import Summary, summarise

Numerator = Literal["each", "sum"]
Denominator = Literal["own", "all", "negatives"]
Average = Literal["anchors", "positives"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NCE:
    r"""Noise-contrastive estimation: pick the positive out of the candidates.

    $$ -\log \frac{e^{s^+}}{D} $$

    The defaults are the paper's equation 3 and NT-Xent, with the positive and all negatives in D.
    The settings only matter for anchors with several positives, except that equations 1 and 4 as
    printed leave the positive out of D (`denominator="negatives"`): the loss then has no lower
    bound, and the term of an anchor without negatives is 0. See docs/paper.md.

    >>> scores = Scores(
    ...     anchors=torch.zeros(1, 2), candidates=torch.zeros(4, 2),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1, 2, 3]),
    ... )
    >>> NCE()(scores).total.exp()  # all four candidates are equally likely
    tensor(4.)
    >>> NCE(denominator="negatives")(scores).total.exp()
    tensor(3.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 1

    numerator: Numerator = "each"
    """each: one term per positive (equation 3, amdim-public); sum: the positives of an anchor
    are added inside the logarithm (equation 1)."""
    denominator: Denominator = "own"
    """own: the term's positive and the negatives (equation 3, amdim-public); all: every
    positive and the negatives (Khosla et al. 2020); negatives: only those (equations 1 and 4,
    decoupled contrastive learning)."""
    average: Average = "anchors"
    """anchors: every anchor counts the same; positives: every positive pair does."""

    def __post_init__(self) -> None:
        if self.numerator == "sum" and (self.denominator == "own" or self.average != "anchors"):
            raise PartError(
                "loss",
                got=f"numerator='sum' with denominator={self.denominator!r}, {self.average=}",
                needs="denominator 'all' or 'negatives' and average 'anchors'",
                do="a sum over the positives has no single positive of its own",
            )

    def build(self, bound: float | None) -> "NCE":  # noqa: ARG002 (any scores will do)
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        if scores.slices is None and crowded(scores):
            return by_rows(scores, self._rows)
        return nce(
            summarise(scores),
            numerator=self.numerator,
            denominator=self.denominator,
            average=self.average,
        )

    def _rows(self, s: Rows, positive: Mask, negative: Mask) -> tuple[Tensor, Tensor]:
        """Sum the terms of some anchors, from all of their scores."""
        count, below = positive.sum(dim=1), LogSumExp().of_rows(s, negative)
        has = count > 0
        if self.numerator == "sum" or self.denominator == "all":
            above = LogSumExp().of_rows(s, positive)
            below = torch.logaddexp(above, below) if self.denominator == "all" else below
        if self.numerator == "sum":
            counts = has & ~below.isneginf()
            return torch.where(counts, below - above, 0.0).sum(), has.sum()
        log_d = below[:, None]
        if self.denominator == "own":
            log_d = torch.logaddexp(s, log_d)
        terms = (log_d - s).masked_fill(~positive | log_d.isneginf(), 0.0).sum(dim=1)
        if self.average == "positives":
            return terms.sum(), count.sum()
        return (terms / count.clamp(min=1)).sum(), has.sum()


def nce(
    summary: Summary,
    *,
    numerator: Numerator = "each",
    denominator: Denominator = "own",
    average: Average = "anchors",
) -> Terms:
    """Sum the terms of the NCE loss over the anchors that have a positive.

    >>> from counterpoint.parts.losses.pairs import positive_pairs
    >>> pairs = positive_pairs(torch.tensor([3]), torch.tensor([3]), itself=None)
    >>> guess = Summary(  # one positive and seven negatives that all look the same
    ...     torch.zeros(1), pairs, torch.tensor([7.0]).log()
    ... )
    >>> nce(guess).total.exp()  # ... so the guess is one in eight
    tensor(8.)
    """
    s, pairs = summary.positive, summary.pairs
    anchors = s.new_full((), pairs.anchors)
    if numerator == "sum":
        above = _positives_together(summary)
        below = summary.negative
        if denominator == "all":
            below = torch.logaddexp(above, below)
        gap = (below - above).masked_fill(below.isneginf(), 0.0)
        return Terms(pairs.of(gap).sum(), anchors)
    log_d = _log_denominator(summary, denominator)
    terms = (log_d - s).masked_fill(log_d.isneginf(), 0.0)
    if average == "positives":
        return Terms(terms.sum(), s.new_full((), len(terms)))
    return Terms((terms / pairs.count[pairs.anchor]).sum(), anchors)


def _log_denominator(summary: Summary, denominator: Denominator) -> Float[Tensor, " pair"]:
    """Return log D of every positive's term."""
    anchor = summary.pairs.anchor
    negative = summary.negative[anchor]
    if denominator == "negatives":
        return negative
    if denominator == "own":
        return torch.logaddexp(summary.positive, negative)
    return torch.logaddexp(_positives_together(summary)[anchor], negative)


def _positives_together(summary: Summary) -> Float[Tensor, " anchor"]:
    """Log-sum-exp of each anchor's positive scores; -inf where there is none."""
    return grouped_logsumexp(summary.positive, summary.pairs.anchor, groups=len(summary.negative))


def grouped_logsumexp(
    values: Float[Tensor, " value"], group: Int64[Tensor, " value"], *, groups: int
) -> Float[Tensor, " group"]:
    """Log-sum-exp of the values of each group.

    >>> grouped_logsumexp(torch.zeros(3), torch.tensor([0, 0, 2]), groups=3).exp()
    tensor([2., 0., 1.])
    """
    with torch.no_grad():
        peak = values.new_full((groups,), -torch.inf).scatter_reduce(0, group, values, "amax")
        peak = torch.where(peak.isfinite(), peak, 0.0)
    shifted = torch.exp(values - peak[group])
    return values.new_zeros(groups).index_add(0, group, shifted).log() + peak
