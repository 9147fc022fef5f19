"""Images of one label are positives of each other (supervised contrastive learning)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from counterpoint.framework import Comparison, Encoded, Samples, World
from counterpoint.framework.records import Shape
from counterpoint.parts.extraction.pooled import Pool, Pooled

UNLABELLED = 1 << 40
"""Where the identities of images without a label begin: above every label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByLabel:
    r"""Every view is an anchor, every other view of an image of its label is a positive.

    With `NCE(denominator="all")` this is L_out of Khosla et al. 2020, equation 2,

    $$ \sum_i \frac{-1}{|P(i)|} \sum_{p \in P(i)}
       \log \frac{e^{s_{ip}}}{\sum_{a \ne i} e^{s_{ia}}}, $$

    as a mean over anchors. Only the other views of an image without a label are its positives.

    >>> from counterpoint.framework import ALONE
    >>> views = tuple((torch.randn(3, 4, 1, 1),) for _ in range(2))
    >>> samples = Samples(torch.arange(3), labels=torch.tensor([0, 1, 0]))
    >>> (compared,) = ByLabel()(Encoded(views, views), samples, ALONE)
    >>> compared.anchor_identity
    tensor([0, 1, 0, 0, 1, 0])
    """

    part: ClassVar[Literal["extraction"]] = "extraction"
    needs_labels: ClassVar[bool] = True

    map: int = -1
    """Which map, counted as in the paper: -1 is the last."""
    pool: Pool = "mean"

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "ByLabel":
        Pooled(map=self.map, pool=self.pool).build(maps)
        return self

    def __call__(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        pooled = Pooled(map=self.map, pool=self.pool)
        return pooled.compare(encoded, samples, world, whose=label_identity)


def label_identity(samples: Samples) -> Tensor:
    """Return the label of each sample, or a number of its own where it has none.

    >>> label_identity(Samples(torch.tensor([5, 6]), torch.tensor([3, -1])))[0]
    tensor(3)
    """
    assert samples.labels is not None, "a method with needs_labels is given labels"
    return torch.where(samples.labels < 0, samples.index + UNLABELLED, samples.labels)
