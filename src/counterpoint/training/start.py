"""What a run is, said before it starts."""

import copy

import torch
from rich.table import Table
from torch import nn

from counterpoint.data import Files, Source
from counterpoint.framework import Method, Model
from counterpoint.framework.training import Training


def negatives(model: Model, training: Training, *, ranks: int) -> str:
    """Say how many negatives an anchor has and where they come from."""
    if not model.loss.needs_negatives:
        return "none: this loss looks at positives only"
    views = len(model.views.shapes)
    count = views * (training.batch - 1)
    share = f"{training.batch // ranks} images a rank, gathered from {ranks} ranks, x {views} views"
    return f"{count:,} per anchor ({share if ranks > 1 else f'the batch, x {views} views'})"


def memory(model: Model, training: Training, *, ranks: int) -> str:
    """Estimate memory of a rank: weights, their gradients and states, and the activations."""
    weights = sum(p.numel() for p in model.parameters()) * 4
    states = {"lars": 1, "sgd": 1, "adam": 2}[training.optimiser]
    views = len(model.views.shapes) * training.batch // ranks
    activations = views * activation_numbers(model) * 4
    total = weights * (2 + states) + activations
    return f"about {total / 2**30:.2f} GiB ({activations / 2**30:.2f} of activations)"


def activation_numbers(model: Model) -> int:
    """Count the numbers that the encoder keeps for one view: the output of every layer.

    Run on the meta device, so that it costs nothing.
    """
    assert isinstance(model.encoder, nn.Module)
    shadow = copy.deepcopy(model.encoder).to("meta")
    counted = 0

    def count(_module: object, _inputs: object, output: object) -> None:
        nonlocal counted
        if isinstance(output, torch.Tensor):
            counted += output.numel()

    hooks = [m.register_forward_hook(count) for m in shadow.modules() if not list(m.children())]
    shadow(tuple(torch.empty(2, *shape, device="meta") for shape in model.views.shapes))
    for hook in hooks:
        hook.remove()
    return counted // (2 * len(model.views.shapes))


def start_table(
    method: Method,
    model: Model,
    source: Source | Files,
    training: Training,
    *,
    ranks: int,
    steps: int,
) -> Table:
    """Show data, parts, parameters, negatives, learning rate and memory."""
    table = Table(title=f"method {method.fingerprint}", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    rows = {
        "data": repr(source),
        **dict(method.rows()),
        "parameters": f"{count:,} trained",
        "negatives": negatives(model, training, ranks=ranks),
        "learning rate": (
            f"{training.scaled_lr:g} = {training.lr:g} x {training.batch} / 256, "
            f"{training.optimiser}, weight decay {training.weight_decay:g}"
        ),
        "steps": f"{steps:,} of {training.batch} images, {training.epochs} epochs",
        "memory": memory(model, training, ranks=ranks),
        "precision": training.precision + (", compiled" if training.compile else ""),
        "seed": str(training.seed),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table
