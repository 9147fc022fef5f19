"""What one step of a method takes, before it runs."""

import time
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice, repeat

import torch
from torch.utils.flop_counter import FlopCounterMode

from counterpoint.data import Batches, Source
from counterpoint.data.batch import Batch
from counterpoint.framework import ALONE, Draw, Method, Model, Scores
from counterpoint.framework.contracts import BuiltLoss
from counterpoint.framework.model import views_of_batch
from counterpoint.framework.records import NOBODY, View
from counterpoint.framework.samples import blank_samples
from counterpoint.framework.settings import Training
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step

TIMED = 3  # steps; the first warms up and does not count


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
    return float(counter.get_total_flops()) + sum(_loss_flops(model.loss, s, batch) for s in scores)


def _loss_flops(loss: BuiltLoss, scores: Scores, batch: int) -> float:
    """Count what a loss does with scores of these shapes."""
    anchors = torch.zeros(scores.anchors.shape, requires_grad=True)
    rows, columns = len(anchors), len(scores.candidates)
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
    )
    with FlopCounterMode(display=False) as counter:
        loss(same, ALONE).total.backward()
    return float(counter.get_total_flops())


def step_seconds(model: Model, source: Source, training: Training) -> float:
    """Time a few steps of a model that is not used afterwards; the fastest counts."""
    chosen = optimiser(model, training)
    batches = Batches(source, batch=training.batch, seed=training.seed, cut=model.views.cut)
    taken: list[float] = []
    for given in islice(chain.from_iterable(repeat(batches)), TIMED):
        started = time.perf_counter()
        train_step(model, given, chosen, source, seed=training.seed)
        taken.append(time.perf_counter() - started)
    return min(taken[1:])


def first_views(model: Model, given: Batch, seed: int) -> tuple[View, ...]:
    """Give the views of a batch that a first epoch would see."""
    return views_of_batch(model.views, given.images, Draw(seed, 0, given.index))
