"""Losses of the whole batch: every rank has all of it, with a count of 1."""

import torch
from torch import Tensor

from counterpoint.framework import World


def loss_average(loss: object) -> str:
    """Return what a loss is a mean over: anchors, positives, or nothing, being of the batch."""
    return str(getattr(loss, "average", "anchors"))


def mean_over_ranks(total: Tensor, count: Tensor, world: World) -> Tensor:
    """Return the mean of terms of all ranks from this rank's sum and count of them.

    >>> from counterpoint.framework import ALONE
    >>> mean_over_ranks(torch.tensor(6.0), torch.tensor(4.0), ALONE)
    tensor(1.5000)
    """
    whole, terms = world.sum(torch.stack([total, count.to(total)]))
    mean: Tensor = whole / terms.detach().clamp(min=1)
    return mean
