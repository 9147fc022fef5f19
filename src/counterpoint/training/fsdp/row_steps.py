"""Optimisers that step on this rank's rows: to them these are plain, smaller weights."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from counterpoint.framework.local_rows import is_sharded, local_rows
from counterpoint.training.fsdp.state_rows import like_weight, rows_of


def step_on_rows(optimiser: torch.optim.Optimizer) -> None:
    """Let an optimiser of sharded weights update the rows of this rank, as it would plain ones.

    Groups hold the sharded weights, for whoever looks at them, and states are kept by row. A state
    that is saved says which rows of what it is (`DTensor`), and one that is loaded may be whole.
    """
    plain: Callable[..., Any] = optimiser.step

    @wraps(plain)
    def step(closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with _on_rows(optimiser):
            plain()
        return loss

    changed: Any = optimiser
    changed.step = step
    optimiser.register_state_dict_post_hook(_with_whole_shapes)
    optimiser.register_load_state_dict_pre_hook(_with_own_rows)


@torch.no_grad()
def zero_missing(weights: Iterator[Tensor]) -> None:
    """Give a gradient of zero to weights that no loss reached, as `reaching_all` does to others."""
    for weight in weights:
        if weight.requires_grad and weight.grad is None:
            weight.grad = torch.zeros_like(weight)


@contextmanager
def _on_rows(optimiser: torch.optim.Optimizer) -> Iterator[None]:
    groups, kept = optimiser.param_groups, optimiser.state
    whole = [group["params"] for group in groups]
    rows = [local_rows(weights) for weights in whole]
    pairs = [pair for both in zip(whole, rows, strict=True) for pair in zip(*both, strict=True)]
    for group, mine in zip(groups, rows, strict=True):
        group["params"] = mine
    optimiser.state = defaultdict(dict, {row: kept[w] for w, row in pairs if w in kept})
    for weight, row in pairs:
        if row is not weight and weight.grad is not None:
            (row.grad,) = local_rows([weight.grad])
    try:
        yield
    finally:
        found = optimiser.state
        optimiser.state = defaultdict(dict, {w: found[row] for w, row in pairs if row in found})
        for group, weights in zip(groups, whole, strict=True):
            group["params"] = weights
        for weight, row in pairs:
            if row is not weight:
                row.grad = None


def _weights(optimiser: torch.optim.Optimizer) -> list[Tensor]:
    """Return the weights in the order in which a saved state numbers them."""
    return [weight for group in optimiser.param_groups for weight in group["params"]]


def _with_whole_shapes(optimiser: torch.optim.Optimizer, saved: dict[str, Any]) -> dict[str, Any]:
    weights = _weights(optimiser)
    states = {
        number: {name: whole_shape(value, weights[number]) for name, value in state.items()}
        for number, state in saved["state"].items()
    }
    return {**saved, "state": states}


def _with_own_rows(optimiser: torch.optim.Optimizer, given: dict[str, Any]) -> dict[str, Any]:
    weights = _weights(optimiser)
    states = {
        number: {
            name: value if name == "step" else own_rows(value, weights[number])
            for name, value in state.items()
        }
        for number, state in given["state"].items()
    }
    return {**given, "state": states}


def whole_shape(value: Any, weight: Tensor) -> Any:
    """Say of a state that is kept by row, as its weight is, which rows of what it is."""
    if not isinstance(weight, DTensor) or not isinstance(value, Tensor):
        return value
    (row,) = local_rows([weight])
    # Others are single numbers, as the count of Adam's steps.
    return like_weight(value, weight) if value.shape == row.shape else value


def own_rows(value: Any, weight: Tensor) -> Any:
    """Return this rank's rows of a state that is sharded or whole."""
    if not isinstance(weight, DTensor) or not isinstance(value, Tensor):
        return value
    if is_sharded(value):
        return local_rows([value])[0]
    if value.shape != weight.shape and not (value.numel() == 1 and weight.shape == (1,)):
        return value
    return rows_of(value.reshape(weight.shape), weight)
