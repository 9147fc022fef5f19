"""The Lightning module. There is no mathematics here: see `contrast`."""

from typing import Any

import lightning as L
import torch
from torch import Tensor

from counterpoint.data import Batches, Files, Source
from counterpoint.data.batches import Batch
from counterpoint.framework import ALONE, Draw, Model, World, contrast, twins
from counterpoint.framework.model import reaching_all
from counterpoint.framework.training import Training
from counterpoint.parts.batch_norm import share_statistics
from counterpoint.training.distributed import world
from counterpoint.training.optimisers import optimiser, rate


class Pretrainer(L.LightningModule):
    """Train one model on the images of a source."""

    def __init__(
        self,
        model: Model,
        source: Source | Files,
        training: Training,
        *,
        steps: int,
        workers: int = 0,
    ) -> None:
        super().__init__()
        self.workers = workers
        self.model, self.source, self.steps = model, source, steps
        self.training_settings = training
        self.world: World = ALONE

    def setup(self, stage: str) -> None:  # noqa: ARG002 (Lightning's signature)
        self.world = world()
        if self.training_settings.sync_batchnorm:
            fused = self.trainer.strategy.root_device.type == "cuda"
            share_statistics(self.model, self.world, fused=fused)

    def train_dataloader(self) -> Batches:
        return Batches(
            self.source,
            batch=self.training_settings.batch,
            seed=self.training_settings.seed,
            rank=self.global_rank,
            ranks=self.trainer.world_size,
            cut=self.model.views.cut,
            workers=self.workers,
        )

    def training_step(self, batch: Batch, _batch_idx: int) -> Tensor:
        given, index, _ = batch
        draw = Draw(self.training_settings.seed, self.current_epoch, index)
        views = self.model.views
        seen = views(given, draw) if isinstance(given, Tensor) else views.finish(given, draw)
        loss = reaching_all(contrast(self.model, seen, index, self.world), self.model)
        self.log("loss", loss.detach(), sync_dist=self.world.size > 1)
        return loss

    def optimizer_step(self, *arguments: Any, **named: Any) -> None:
        super().optimizer_step(*arguments, **named)
        for twin in twins(self.model):  # once per update, also when gradients accumulate
            twin.step(self.global_step / self.steps)

    def configure_optimizers(self) -> Any:
        chosen = optimiser(self.model, self.training_settings)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            chosen, lambda step: rate(step, self.training_settings, steps=self.steps)
        )
        return {
            "optimizer": chosen,
            "lr_scheduler": {"scheduler": schedule, "interval": "step"},
        }
