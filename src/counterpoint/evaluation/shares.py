"""A share of the labels: 1 % and 10 %, the same number of every class."""

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.philox import keyed_order


def share_of_labels(
    labels: Int64[Tensor, " sample"], fraction: float, *, seed: int
) -> Int64[Tensor, " chosen"]:
    """Choose a share of each class, at least one sample of it; sample numbers in order.

    >>> labels = torch.tensor([0, 1] * 10)
    >>> chosen = share_of_labels(labels, 0.2, seed=0)
    >>> labels[chosen].bincount().tolist()
    [2, 2]
    """
    refuse_no_share(fraction)
    order = keyed_order(len(labels), seed=seed, epoch=0)
    chosen = []
    for kind in labels.unique().tolist():
        members = order[labels[order] == kind]
        chosen.append(members[: max(1, round(fraction * len(members)))])
    return torch.cat(chosen).sort().values


def refuse_no_share(fraction: float) -> None:
    """Refuse a number that is no share of the labels.

    >>> refuse_no_share(2.0)
    Traceback (most recent call last):
        ...
    ValueError: evaluation: a share of 2.0 of the labels; needs more than 0, and at most 1
    """
    if not 0 < fraction <= 1:
        raise ValueError(
            f"evaluation: a share of {fraction} of the labels; needs more than 0, and at most 1"
        )
