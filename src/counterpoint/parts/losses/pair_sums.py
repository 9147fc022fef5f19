r"""Losses whose term of a positive pair is a function of its score and of its anchor's numbers.

$$ \sum_i \frac{1}{|P_i|} \sum_{p \in P_i} f(s_{ip}, N_i) $$

The numbers $N_i$ are reductions of the negatives and counts. A loss writes $f$ once, elementwise.
It then serves a list of positive pairs, and whole rows of scores where there are too many to list.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from counterpoint.framework import Scores, Terms
from counterpoint.framework.records import NOBODY
from counterpoint.framework.sending import send
from counterpoint.parts.losses.crowded import Mask, Rows, by_rows, crowded
from counterpoint.parts.losses.reductions import Reduction
from counterpoint.parts.losses.softmax import Summary, positives, summarise


@dataclass(frozen=True, slots=True, eq=False)
class AnchorNumbers:
    """What is known of an anchor, in shapes that go with the scores of its positives."""

    negatives: tuple[Tensor, ...]
    """One for each reduction."""
    negative_count: Tensor
    positive_count: Tensor


PairTerm = Callable[[Tensor, AnchorNumbers], Tensor]
"""f: the scores of positive pairs and the numbers of their anchors to the terms, elementwise."""


def pair_sums(scores: Scores, over: tuple[Reduction, ...]) -> "InLists | InRows":
    """List the positive pairs, or take whole rows of scores where there are too many to list.

    >>> import torch
    >>> scores = Scores(
    ...     anchors=torch.ones(1, 1), candidates=torch.tensor([[3.0], [1.0], [0.0], [0.0]]),
    ...     anchor_identity=torch.tensor([7]), candidate_identity=torch.tensor([7, 7, 8, 9]),
    ... )
    >>> pair_sums(scores, ()).sum(lambda s, numbers: s * numbers.negative_count).total
    tensor(4.)
    """
    if scores.slices is None and crowded(scores):
        return InRows(scores, over)
    summary = summarise(scores, over=over) if over else positives(scores)
    return InLists(summary, negative_counts(scores, summary))


@dataclass(frozen=True, slots=True, eq=False)
class InLists:
    """A list of positive pairs."""

    summary: Summary
    negative_count: Tensor

    def sum(self, term: PairTerm) -> Terms:
        """Sum the mean of a term over the positives of each anchor; count the anchors."""
        pairs, s = self.summary.pairs, self.summary.positive
        anchor = pairs.anchor
        count = pairs.count[anchor]
        reduced = tuple(each[anchor] for each in self.summary.negatives)
        terms = term(s, AnchorNumbers(reduced, self.negative_count[anchor], count))
        return Terms((terms / count).sum(), s.new_full((), pairs.anchors))


@dataclass(frozen=True, slots=True, eq=False)
class InRows:
    """Scores whose positive pairs are too many to list."""

    scores: Scores
    over: tuple[Reduction, ...]

    def sum(self, term: PairTerm) -> Terms:
        """Sum the same, some anchors at a time."""

        def rows(s: Rows, positive: Mask, negative: Mask) -> tuple[Tensor, Tensor]:
            count = positive.sum(dim=1)
            reduced = tuple(each.of_rows(s, negative)[:, None] for each in self.over)
            numbers = AnchorNumbers(reduced, negative.sum(dim=1)[:, None], count[:, None])
            terms = term(s, numbers).masked_fill(~positive, 0.0).sum(dim=1)
            return (terms / count.clamp(min=1)).sum(), (count > 0).sum()

        return by_rows(self.scores, rows)


def negative_counts(scores: Scores, summary: Summary) -> Tensor:
    """Count the negatives of each anchor from identities, which are on the host.

    All candidates but those that are nobody's negatives, the anchor itself and its positives.
    """
    others = _others(scores)
    # Positives of an identity that is only ever positive are not among the others.
    loud = (scores.anchor_identity.cpu() >= NOBODY).long()
    count = summary.pairs.count
    if bool(loud.all()):
        return others - count
    return others - count * send(loud, count.device)


def _others(scores: Scores) -> int:
    """Count the candidates that are negatives of somebody, without the anchor itself."""
    found = int((scores.candidate_identity.cpu() >= NOBODY).sum()) - (scores.itself is not None)
    if scores.slices is None:
        return found
    for number in range(scores.slices.count):
        loud = scores.slices.identity(number) >= NOBODY
        own = scores.slices.own_columns(number)  # counted above
        found += int(loud.sum()) - int(loud[own].sum())
    return found
