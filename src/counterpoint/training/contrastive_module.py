"""A method as a LightningModule, for a Trainer and data of a user's own."""

from dataclasses import replace
from typing import Any

import lightning as L
import torch
from torch import Tensor

from counterpoint.evaluation import Representation
from counterpoint.framework import ALONE, Draw, Method, Samples, World, contrast
from counterpoint.framework.model import reaching_all
from counterpoint.framework.optional import held_out
from counterpoint.framework.records import Index, Shape
from counterpoint.framework.sending import send
from counterpoint.framework.settings import Training
from counterpoint.methods import training_of
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.training.clipping import clip
from counterpoint.training.distributed import world
from counterpoint.training.loader_batch import LoaderBatch, batch_of, number, read_batch
from counterpoint.training.optimisers import scheduled_optimiser
from counterpoint.training.step import step_twins

THEIRS = {
    "accumulate": "your Trainer decides; write L.Trainer(accumulate_grad_batches=4)",
    "precision": 'your Trainer decides; write L.Trainer(precision="bf16-mixed")',
    "strategy": 'your Trainer decides; write L.Trainer(strategy="ddp")',
    "compile": "only a run does; write counterpoint.pretrain(...)",
    "checkpoint_activations": "only a run does; write counterpoint.pretrain(...)",
}
"""Settings of a run that this module does not follow, and what to write instead."""


class ContrastiveModule(L.LightningModule):
    """A method to give to your own `lightning.Trainer`.

    The loader gives bytes (b, c, h, w), from which views are made on the device, or a list of
    views, which a `ViewTransform` made in the dataset; labels behind them are taken and not needed.
    It logs "loss", and "val_loss" where there is validation data. The rate is scaled by the batch
    that the loader has, and follows the recipe's schedule until the Trainer ends.

    `module(images)` gives one vector per image. The weights are `module.model`.

    >>> from counterpoint import simclr_small
    >>> module = ContrastiveModule(simclr_small(), image=(3, 16, 16))
    >>> module(torch.zeros(4, 3, 16, 16, dtype=torch.uint8)).shape
    torch.Size([4, 256])
    """

    def __init__(self, method: Method, *, image: Shape, training: Training | None = None) -> None:
        super().__init__()
        self.method, self.image = method, image
        self.training_settings = _without_theirs(training or training_of(method))
        self.model = method.build(image=image)
        self.world: World = ALONE
        self.numbered = method.for_samples(1) != method.for_samples(2)
        """Whether a part keeps something of every sample, and so needs their numbers."""

    def setup(self, stage: str) -> None:  # noqa: ARG002 (Lightning's signature)
        self.world = world()
        if self.training_settings.sync_batchnorm:
            fused = self.trainer.strategy.root_device.type == "cuda"
            share_statistics(self.model, self.world, fused=fused)

    def forward(self, images: Tensor) -> Tensor:
        """Return one vector per image, by the evaluation view; the gradient flows."""
        return Representation(self.model).vectors(images)

    def transfer_batch_to_device(
        self,
        batch: Any,
        device: torch.device,
        dataloader_idx: int,  # noqa: ARG002
    ) -> LoaderBatch:
        return self._read(batch).to(device)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        given = self._read(batch)
        loss = reaching_all(self._loss(given, batch_idx, self.current_epoch), self.model)
        several = self.world.size > 1
        self.log("loss", loss.detach(), prog_bar=True, sync_dist=several, batch_size=len(given))
        return loss * self.training_settings.gradient_scale

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        if not held_out(self.method.extraction):
            return  # a bank knows only the images that are trained on
        given = self._read(batch)
        loss = self._loss(given, batch_idx, 0)  # always the same views: epochs can be compared
        self.log("val_loss", loss, sync_dist=self.world.size > 1, batch_size=len(given))

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:  # noqa: ARG002
        given = self._read(batch)
        if given.images is None:
            raise ValueError("batch: got views; needs images as bytes, to be embedded")
        return self.forward(given.images)

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        clip(self, optimizer, gradient_clip_val, gradient_clip_algorithm)

    def optimizer_step(self, *arguments: Any, **named: Any) -> None:
        super().optimizer_step(*arguments, **named)
        step_twins(self.model, self.global_step / self.trainer.estimated_stepping_batches)

    def configure_optimizers(self) -> Any:
        steps = self.trainer.estimated_stepping_batches
        if not 0 < steps < float("inf"):
            raise ValueError(
                f"training: the Trainer will make {steps} updates; its schedule needs an end: "
                "L.Trainer(max_epochs=100) or max_steps="
            )
        training = replace(self.training_settings, batch=self._images_of_an_update())
        return scheduled_optimiser(self.model, training, steps=int(steps))

    def _images_of_an_update(self) -> int:
        """Return the images of an update over all ranks; the recipe's where no loader says."""
        if self.trainer.train_dataloader is None:  # with max_steps alone it is not made yet
            self.trainer.fit_loop.setup_data()
        batch = batch_of(self.trainer.train_dataloader)
        if batch is None:
            return self.training_settings.batch
        return batch * self.trainer.world_size * self.trainer.accumulate_grad_batches

    def _read(self, batch: Any) -> LoaderBatch:
        return read_batch(batch, views=len(self.model.views.shapes))

    def _loss(self, given: LoaderBatch, batch: int, epoch: int) -> Tensor:
        index = self._index(given, batch)
        views = given.views
        if views is None:
            draw = Draw(self.training_settings.seed, epoch, send(index, self.device))
            assert given.images is not None
            views = self.model.views(given.images, draw)
        return contrast(self.model, views, self._samples(given, index), self.world)

    def _samples(self, given: LoaderBatch, index: Index) -> Samples:
        """Return the numbers and, where a part asks for them, the labels of a batch."""
        progress = 0.0
        if self.trainer.state.fn == "fit":  # only then is there a length
            progress = self.global_step / self.trainer.estimated_stepping_batches
        if not self.model.needs_labels:
            return Samples(index, progress=progress)
        if given.labels is None:
            raise ValueError(
                "batch: got no labels, and a part of the method needs them; give (images, labels)"
            )
        return Samples(index, given.labels, progress)

    def _index(self, given: LoaderBatch, batch: int) -> Index:
        if given.index is not None:
            return given.index
        if self.numbered:
            raise ValueError(
                f"batch: {self.method.extraction} keeps an entry for every sample, and the loader "
                'does not number them; give {"images": images, "index": numbers}, to a module of '
                "method.for_samples(len(dataset))"
            )
        return number(batch, len(given), rank=self.global_rank, ranks=self.trainer.world_size)


def _without_theirs(training: Training) -> Training:
    """Refuse settings that the Trainer has in the place of a run."""
    usual = Training()
    for name, instead in THEIRS.items():
        if getattr(training, name) != getattr(usual, name):
            raise ValueError(
                f"training: {name} is {getattr(training, name)!r}, which {instead}, and leave it "
                "out here"
            )
    return training
