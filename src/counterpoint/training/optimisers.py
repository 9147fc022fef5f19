"""Optimisers from torch and timm, and the learning rate over the steps of a run."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from timm.optim.lars import Lars
from torch import nn

from counterpoint.framework.training import Training


def optimiser(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Make the optimiser of a run.

    LARS leaves parameters without weight decay unscaled, so that the exclusions of SimCLR
    (biases and norms have neither weight decay nor a layer-wise rate) are one group.
    """
    groups = parameter_groups(module.named_parameters(), training.weight_decay)
    lr = training.scaled_lr
    if training.optimiser == "lars":
        return Lars(groups, lr=lr, momentum=training.momentum)
    if training.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=lr, momentum=training.momentum, nesterov=True)
    return torch.optim.AdamW(groups, lr=lr, betas=training.betas)


def parameter_groups(
    named: Iterable[tuple[str, nn.Parameter]], weight_decay: float
) -> list[dict[str, Any]]:
    """Split weights from biases, norms and temperatures, which are not decayed.

    >>> groups = parameter_groups(nn.Linear(3, 2).named_parameters(), 0.1)
    >>> [(len(group["params"]), group["weight_decay"]) for group in groups]
    [(1, 0.1), (1, 0.0)]
    """
    trained = [parameter for _, parameter in named if parameter.requires_grad]
    return [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]


def rate(step: int, training: Training, *, steps: int) -> float:
    """Give the share of the learning rate at a step: a line up, then a cosine or drops.

    >>> [round(rate(s, Training(warmup=0.2), steps=10), 2) for s in range(10)]
    [0.5, 1.0, 1.0, 0.96, 0.85, 0.69, 0.5, 0.31, 0.15, 0.04]
    >>> drops = Training(warmup=0, schedule="steps", drops=(0.5, 0.75), drop=0.1)
    >>> [round(rate(s, drops, steps=8), 2) for s in range(8)]
    [1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.01, 0.01]
    """
    rising = int(steps * training.warmup)
    if step < rising:
        return (step + 1) / rising
    if training.schedule == "steps":
        return training.drop ** sum(step >= round(share * steps) for share in training.drops)
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))
