"""Every pair is a decision of its own: the sigmoid loss."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from counterpoint.framework import ALONE, Scores, Terms, World
from counterpoint.parts.losses.pair_sums import AnchorNumbers, pair_sums
from counterpoint.parts.losses.reductions import SoftplusSum, softplus


@dataclass(frozen=True, slots=True, kw_only=True)
class Sigmoid:
    r"""Is this pair of the same image? Yes or no, for each pair by itself (Zhai et al. 2023).

    $$ \sum_+ \log(1 + e^{-s^+}) + \sum_- \log(1 + e^{s^-}) $$

    There is no softmax over the candidates. As nearly all pairs are negatives, scores need a
    bias that starts low: `Biased`.

    >>> import torch
    >>> scores = Scores(
    ...     anchors=torch.zeros(1, 2), candidates=torch.zeros(4, 2),
    ...     anchor_identity=torch.tensor([0]), candidate_identity=torch.tensor([0, 1, 2, 3]),
    ... )
    >>> Sigmoid()(scores).total.exp()  # four coins are tossed
    tensor(16.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True
    takes_slices: ClassVar[int] = 1

    def build(self, bound: float | None) -> "Sigmoid":  # noqa: ARG002 (any scores will do)
        return self

    def __call__(self, scores: Scores, world: World = ALONE) -> Terms:  # noqa: ARG002
        return pair_sums(scores, (SoftplusSum(),)).sum(_term)


def _term(s: Tensor, numbers: AnchorNumbers) -> Tensor:
    # The mean over an anchor's positives of this is the sum over its pairs.
    return numbers.positive_count * softplus(-s) + numbers.negatives[0]
