"""What a step costs: parameters, memory and operations, counted on the meta device."""

import copy
import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from counterpoint.framework import ALONE, Method, Model, Samples, Scores
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.contracts import BuiltLoss
from counterpoint.framework.records import NOBODY, View
from counterpoint.framework.settings import Training

Built = TypeVar("Built")
NUMBER = 4  # bytes of a float


@dataclass(frozen=True, slots=True)
class Memory:
    """The bytes that one rank needs for a step."""

    weights: int
    """Weights, the gradients of those that are trained, and the optimiser's states of them."""
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.activations


def trained_parameters(model: Model) -> int:
    """Count the parameters that are trained: a momentum twin's are not."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def memory_of(model: Model, training: Training, *, ranks: int = 1) -> Memory:
    """Estimate the memory of a rank; views and scores come on top."""
    every, trained = sum(p.numel() for p in model.parameters()), trained_parameters(model)
    views = len(model.views.shapes) * training.micro_batch // ranks
    return Memory(
        weights=(every + trained * (1 + training.states)) * NUMBER,
        activations=views * activation_numbers(model) * NUMBER,
    )


def memory_there() -> int:
    """Return the bytes of the first GPU, or of this machine."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(0).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def activation_numbers(model: Model) -> int:
    """Count the numbers that the encoder keeps for one view: the output of every layer."""
    assert isinstance(model.encoder, nn.Module)
    seen = shadow(model.encoder)
    counted = 0

    def count(_module: object, _inputs: object, output: object) -> None:
        nonlocal counted
        if isinstance(output, torch.Tensor):
            counted += output.numel()

    hooks = [m.register_forward_hook(count) for m in seen.modules() if not list(m.children())]
    seen(blank_views(model, images=2))
    for hook in hooks:
        hook.remove()
    return counted // (2 * len(model.views.shapes))


def blank_views(model: Model, *, images: int) -> tuple[View, ...]:
    """Make views on the meta device, as narrow or wide as the weights are."""
    width = next((p.dtype for p in model.parameters()), torch.float32)
    shapes = model.views.shapes
    return tuple(torch.empty(images, *shape, device="meta", dtype=width) for shape in shapes)


def shadow(part: Built) -> Built:
    """Copy a part to the meta device; its weights, its queue or its bank are not copied first."""
    if not isinstance(part, nn.Module):
        return copy.deepcopy(part)
    memo: dict[int, object] = {
        id(p): nn.Parameter(torch.empty_like(p, device="meta"), requires_grad=p.requires_grad)
        for p in part.parameters()
    }
    memo |= {id(b): torch.empty_like(b, device="meta") for b in part.buffers()}
    return copy.deepcopy(part, memo)


@lru_cache(maxsize=64)
def step_flops(method: Method, image: tuple[int, ...], batch: int) -> float:
    """Count the floating-point operations of a step: forward and backward, by torch's counter.

    Encoder, extraction and similarity run on the meta device, so that it costs nothing whatever
    their size. The loss looks at identities, so it runs for real, on zeros of the same shapes.
    Views and the optimiser are not counted: they have no matrix products.
    """
    with torch.device("meta"):
        model = method.build(image=image)
        views = tuple(torch.empty(batch, *shape) for shape in model.views.shapes)
        samples = blank_samples(batch, labels=model.needs_labels)
        with FlopCounterMode(display=False) as counter:
            encoded = model.encode(views)
            compared = model.extraction(encoded, samples, ALONE)
            scores = [model.similarity(comparison, ALONE) for comparison in compared]
            torch.stack([s.anchors.sum() + s.candidates.sum() for s in scores]).sum().backward()
    return float(counter.get_total_flops()) + sum(
        _loss_flops(model.loss, each, samples) for each in scores
    )


def _loss_flops(loss: BuiltLoss, scores: Scores, samples: Samples) -> float:
    """Count what a loss does with scores of these shapes."""
    anchors = torch.zeros(scores.anchors.shape, requires_grad=True)
    rows, columns, batch = len(anchors), len(scores.candidates), len(samples)
    candidates = torch.zeros(scores.candidates.shape, requires_grad=True)
    each = max(1, columns // batch if columns >= batch else 1)
    whose = torch.full((columns,), NOBODY)
    count = min(columns, each * batch)
    whose[:count] = torch.arange(count) // each
    same = replace(
        scores,
        anchors=anchors,
        candidates=candidates,
        anchor_identity=torch.arange(rows) // max(1, rows // batch),
        candidate_identity=whose,
        samples=samples,
    )
    with FlopCounterMode(display=False) as counter:
        loss(same, ALONE).total.backward()
    return float(counter.get_total_flops())
