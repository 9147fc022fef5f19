"""Which samples a batch is made of, what is known of them, and how far training is."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

Index = Int64[Tensor, " batch"]
"""The number of each sample in its data set; on the host when it is given to an extraction."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The samples of a batch, on the host.

    >>> Samples(torch.tensor([7, 3]), labels=torch.tensor([0, 1])).index
    tensor([7, 3])
    """

    index: Index
    labels: Index | None = None
    """The label of each, below 0 where it has none; given only to a method with a part that says
    `needs_labels = True`."""
    progress: float = 0.0
    """The share of all updates that are done."""

    def __len__(self) -> int:
        return len(self.index)

    def on_host(self) -> "Samples":
        """Return the same samples with all numbers on the host."""
        labels = None if self.labels is None else self.labels.cpu()
        return Samples(self.index.cpu(), labels, self.progress)


def as_samples(given: "Samples | Index") -> Samples:
    """Return samples on the host, also of nothing but their numbers."""
    return (given if isinstance(given, Samples) else Samples(given)).on_host()


def blank_samples(count: int, *, labels: bool) -> Samples:
    """Return samples for a dry run, two of each label.

    >>> blank_samples(4, labels=True).labels
    tensor([0, 0, 1, 1])
    """
    index = torch.arange(count, device="cpu")
    return Samples(index, index // 2 if labels else None)
