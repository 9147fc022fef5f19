"""Heads: linear maps with batch norm and ReLU between them, of any depth."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from torch import nn

LastNorm = Literal["none", "affine", "plain"]
"""Batch norm behind the last layer: none, with weights, or without (SimSiam)."""


def perceptron(
    widths: Sequence[int],
    *,
    norm: bool,
    bias: bool = True,
    last_norm: LastNorm = "none",
    inplace: bool = False,
) -> nn.Sequential:
    """Make linear maps from width to width, with ReLU, and batch norm perhaps, between them.

    >>> [type(layer).__name__ for layer in perceptron((8, 4, 2), norm=True)]
    ['Linear', 'BatchNorm1d', 'ReLU', 'Linear']
    """
    layers: list[nn.Module] = []
    for width, after in pairwise(widths[:-1]):
        layers.append(nn.Linear(width, after, bias=bias))
        layers += [nn.BatchNorm1d(after)] if norm else []
        layers.append(nn.ReLU(inplace=inplace))
    layers.append(nn.Linear(widths[-2], widths[-1], bias=bias))
    if last_norm != "none":
        layers.append(nn.BatchNorm1d(widths[-1], affine=last_norm == "affine"))
    return nn.Sequential(*layers)
