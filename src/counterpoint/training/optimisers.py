"""Optimisers from torch, and the learning rate over the steps of a run."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from counterpoint.framework.settings import Training
from counterpoint.training.lars import Lars


def optimiser(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Make the optimiser of a run."""
    made = _made(module, training)
    made.register_load_state_dict_post_hook(laid_out_as_weights)
    return made


def scheduled_optimiser(module: nn.Module, training: Training, *, steps: int) -> dict[str, Any]:
    """Return the optimiser and its schedule as Lightning takes them: a rate for every step."""
    made = optimiser(module, training)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        made, lambda step: rate(step, training, steps=steps)
    )
    return {"optimizer": made, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def laid_out_as_weights(loaded: torch.optim.Optimizer) -> None:
    """Lay out a state that was loaded in memory as its weights are, say with channels last.

    A fused step walks through the memory of weights and state side by side; on a CPU it does not
    look whether their order is the same.
    """
    for weight, state in loaded.state.items():
        for name, value in state.items():
            if name != "step" and value.ndim == 0 and weight.shape == (1,):
                state[name] = value.reshape(1)  # a temperature of an earlier version
            if value.shape == weight.shape and value.stride() != weight.stride():
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value)


def _made(module: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Make the optimiser, with weights in one group, biases and norms in another.

    LARS gives every weight a rate of its own, also where nothing decays; biases and norms have
    neither (google-research/simclr, lars_optimizer.py), unless `decay_norms` is set. All are
    fused: those leave out an update that is not finite without asking the host (`Guard`).
    """
    groups = parameter_groups(module.named_parameters(), training)
    lr, momentum, nesterov = training.scaled_lr, training.momentum, training.nesterov
    match training.optimiser:
        case "lars":
            groups[0]["adapt"], groups[1]["adapt"] = True, training.decay_norms
            return Lars(groups, lr=lr, momentum=momentum, nesterov=nesterov)
        case "sgd":
            return torch.optim.SGD(groups, lr=lr, momentum=momentum, nesterov=nesterov, fused=True)
        case "adam":
            betas, eps = training.betas, training.eps
            return torch.optim.Adam(groups, lr=lr, betas=betas, eps=eps, fused=True)
        case "adamw":
            betas, eps = training.betas, training.eps
            return torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps, fused=True)


def parameter_groups(
    named: Iterable[tuple[str, nn.Parameter]], training: Training
) -> list[dict[str, Any]]:
    """Split weights from biases, norms and temperatures, which are decayed only where asked.

    >>> layer = nn.Linear(3, 2)
    >>> groups = parameter_groups(layer.named_parameters(), Training(weight_decay=0.1))
    >>> [(len(group["params"]), group["weight_decay"]) for group in groups]
    [(1, 0.1), (1, 0.0)]
    """
    trained = [parameter for _, parameter in named if parameter.requires_grad]
    decay = training.weight_decay
    return [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": decay},
        {
            "params": [p for p in trained if p.ndim <= 1],
            "weight_decay": decay if training.decay_norms else 0.0,
        },
    ]


def rate(step: int, training: Training, *, steps: int) -> float:
    """Return the share of the learning rate at a step: a line up, then a cosine or drops.

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
