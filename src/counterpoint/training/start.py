"""What a run is, said before it starts."""

import copy
from typing import TypeVar

import torch
from rich.table import Table
from torch import nn

from counterpoint.data import Files, Source
from counterpoint.framework import ALONE, Method, Model
from counterpoint.framework.training import Training

Built = TypeVar("Built")


def candidates(model: Model, training: Training, *, ranks: int) -> str:
    """Say how many candidates an anchor is compared with and where they come from."""
    if not model.loss.needs_negatives:
        return "its positives only: this loss has no negatives"
    two, three = (_candidates(model, images) for images in (2, 3))
    each, kept = three - two, two - 2 * (three - two)
    remembered = f" and {kept:,} remembered" if kept else ""
    gathered = f", gathered from {ranks} ranks" if ranks > 1 else ""
    count = each * training.batch + kept
    return f"{count:,} per anchor: {each} of each image in the batch{remembered}{gathered}"


def _candidates(model: Model, images: int) -> int:
    """Count the candidates of the first comparison, on the meta device."""
    with torch.device("meta"):
        encoder, extraction = _shadow(model.encoder), _shadow(model.extraction)
        shadow = Model(model.views, encoder, extraction, model.similarity, model.loss)
        encoded = shadow.encode(tuple(torch.empty(images, *s) for s in model.views.shapes))
        first, *_ = shadow.extraction(encoded, torch.arange(images), ALONE)
    return len(first.candidates)


def _shadow(part: Built) -> Built:
    """Copy a part to the meta device, where it costs nothing."""
    copied = copy.deepcopy(part)
    return copied.to("meta") if isinstance(copied, nn.Module) else copied


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
    shadow = _shadow(model.encoder)
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
    """Show data, parts, parameters, candidates, learning rate and memory."""
    table = Table(title=f"method {method.fingerprint}", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    rows = {
        "data": repr(source),
        **dict(method.rows()),
        "parameters": f"{count:,} trained",
        "candidates": candidates(model, training, ranks=ranks),
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
