"""Look at a model and leave it as it was: its views, its vectors and its scores."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.data import Source
from counterpoint.evaluation.placing import device_of, dtype_of
from counterpoint.evaluation.representation import Representation
from counterpoint.framework import ALONE, Draw, Model, Samples, Scores
from counterpoint.framework.contracts import BuiltViews
from counterpoint.framework.model import views_of_batch
from counterpoint.framework.optional import needs_all_views
from counterpoint.framework.records import Index, View
from counterpoint.parts.batch_norm import GroupedBatchNorm


@contextmanager
def untouched(model: Model) -> Iterator[None]:
    """Put a model into evaluation mode, alone and without gradients; restore it afterwards.

    In that mode queues, banks, counters and batch norm keep still, and no rank waits for another.
    """
    modes = [(module, module.training) for module in model.modules()]
    norms = [module for module in model.modules() if isinstance(module, GroupedBatchNorm)]
    kept = [(norm, norm.world, norm.member, norm.groups) for norm in norms]
    model.eval()
    for norm in norms:
        norm.world = ALONE
    try:
        # No part of ours draws from torch's generator; a user's own may.
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _not_compiled():
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        for norm, world, member, groups in kept:
            norm.world, norm.member, norm.groups = world, member, groups


def views_of(model: Model, source: Source, draw: Draw) -> tuple[View, ...]:
    """Return the training views of some samples."""
    return _views(model, model.views, source, draw)


def plain_views_of(model: Model, source: Source, draw: Draw) -> tuple[View, ...]:
    """Return the evaluation views of some samples: no chance in them."""
    return _views(model, model.views.evaluation, source, draw)


def _views(model: Model, views: BuiltViews, source: Source, draw: Draw) -> tuple[View, ...]:
    device, precision = device_of(model), dtype_of(model)
    there = Draw(draw.seed, draw.epoch, draw.index.to(device))
    made = views_of_batch(views, source.read(views.cut, draw).to(device).images, there)
    return tuple(view.to(precision) for view in made)


def as_pair(
    model: Model, drawn: tuple[View, ...], source: Source, draw: Draw
) -> tuple[tuple[View, ...], tuple[View, ...]]:
    """Return what stands for the first and for the second view of each image.

    The first two views; or, of a method with one view (CPC) or with an encoder for each (CMC),
    all views of this draw and all of another.
    """
    if len(drawn) > 1 and not needs_all_views(Representation(model).encoder):
        return drawn[:1], drawn[1:2]
    return drawn, views_of(model, source, Draw(draw.seed, draw.epoch + 1, draw.index))


def pooled_views(model: Model, views: tuple[View, ...]) -> Float[Tensor, "image feature"]:
    """Encode views and average the probed map, as in `Representation`; several are put together."""
    return Representation(model).encoded(views)


def scores_of(
    model: Model, views: tuple[View, ...], index: Index
) -> tuple[tuple[Scores, ...], Float[Tensor, ""]]:
    """Return the scores of all comparisons of one batch, and its loss."""
    labels = torch.full_like(index, -1) if model.needs_labels else None  # health looks at none
    comparisons = model.extraction(model.encode(views), Samples(index, labels).on_host(), ALONE)
    found = tuple(model.similarity(comparison, ALONE) for comparison in comparisons)
    terms = [model.loss(scores, ALONE) for scores in found]
    means = [c.weight * t.total / t.count for c, t in zip(comparisons, terms, strict=True)]
    return found, torch.stack(means).sum()


def _not_compiled() -> AbstractContextManager[Any]:
    """Keep a compiled encoder from being compiled again, for evaluation mode and other sizes."""
    if "torch._dynamo" not in sys.modules:
        return nullcontext()
    eager: AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return eager
