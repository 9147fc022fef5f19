"""One training step: views, loss, backward, update and twins, the same for everybody.

A trainer calls the two halves, `batch_loss` and `step_twins`, since the update between them is its
own; who measures or checks calls `train_step` or `update`.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.data import Source
from counterpoint.data.batch import Batch
from counterpoint.data.reading import shown_samples
from counterpoint.evaluation.placing import device_of
from counterpoint.framework import ALONE, Draw, Model, Samples, World, twins
from counterpoint.framework.model import views_of_batch
from counterpoint.framework.precision import in_precision
from counterpoint.framework.records import Index
from counterpoint.framework.sending import send
from counterpoint.framework.settings import Precision


def samples_of(model: Model, source: Source, batch: Batch, *, progress: float = 0.0) -> Samples:
    """Return the samples of a batch, with labels of what is seen where a part asks for them."""
    seen = shown_samples(source, batch) if model.needs_labels else batch.index
    return Samples(batch.index, labels_of(model, source, seen), progress)


def labels_of(model: Model, source: Source, index: Index) -> Index | None:
    """Return the labels of some samples; None where no part asks for them."""
    if not model.needs_labels:
        return None
    if not source.has_labels:
        raise ValueError(
            f"data: {source.name} has no labels, and a part of the method needs them; "
            "take data with labels, or a method that learns without"
        )
    return source.labels_of(index)


def batch_loss(
    model: Model, batch: Batch, draw: Draw, samples: Samples, world: World = ALONE
) -> Float[Tensor, ""]:
    """Return the loss of a batch that is where the model is: the half before the update."""
    views = views_of_batch(model.views, batch.images, draw)
    loss: Tensor = model(views, samples, world)  # a call: a sharded model gathers its weights by it
    return loss


def step_twins(model: Model, progress: float) -> None:
    """Let every twin follow its network: the half after the update."""
    for twin in twins(model):
        twin.step(progress)


def update(
    model: Model, loss: Float[Tensor, ""], optimiser: torch.optim.Optimizer, progress: float = 0.0
) -> None:
    """Take the gradient of a loss, update the weights by it, and let the twins follow."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    step_twins(model, progress)


def train_step(
    model: Model,
    batch: Batch,
    optimiser: torch.optim.Optimizer,
    source: Source,
    *,
    seed: int = 0,
    epoch: int = 0,
    progress: float = 0.0,
    precision: Precision = "32-true",
) -> Float[Tensor, ""]:
    """Train on one batch, wherever the model is, and return the loss before the update.

    The weights of a model for "64-true" are double already.
    """
    device = device_of(model)
    draw = Draw(seed, epoch, send(batch.index, device))
    samples = samples_of(model, source, batch, progress=progress)
    with in_precision(precision, device):
        loss = batch_loss(model, batch.to(device), draw, samples)
    update(model, loss, optimiser, progress)
    return loss.detach()
