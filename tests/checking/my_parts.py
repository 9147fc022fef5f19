"""Parts of a user: unknown to the package, given by --parts."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from counterpoint.framework import Terms
from counterpoint.parts.losses.softmax import summarise


@dataclass(frozen=True)
class Margin:
    """NCE whose positives must be ahead by a margin."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = True

    margin: float = 0.1

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        summary = summarise(scores)
        ahead = summary.positive - self.margin
        terms = torch.logaddexp(ahead, summary.negative[summary.anchor]) - ahead
        return Terms(terms.sum(), terms.new_tensor(float(len(terms))))


@dataclass(frozen=True)
class Deaf:
    """A loss that forgets the gradient: a check must say so."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = True

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        good = Margin()(scores, world)
        return Terms(0 * good.total + good.total.detach(), good.count)
