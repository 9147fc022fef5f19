"""The Lightning module. There is no mathematics here: see `contrast`."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import lightning as L
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from counterpoint.data import Batches, Source
from counterpoint.data.batch import Batch
from counterpoint.data.order import BLOCK_SHARDS
from counterpoint.framework import ALONE, Draw, Model, Samples, World
from counterpoint.framework.local_rows import local_rows
from counterpoint.framework.sending import send
from counterpoint.framework.settings import Training
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.training.clipping import clip
from counterpoint.training.distributed import Ranks, world
from counterpoint.training.divided_memory import (
    hold_rows,
    rows_to_load,
    rows_to_save,
    whole_memory,
)
from counterpoint.training.fsdp.row_lengths import lengths_over_ranks
from counterpoint.training.gradient_buckets import settle_buckets
from counterpoint.training.optimisers import scheduled_optimiser
from counterpoint.training.position import Position, counters, position_of
from counterpoint.training.recomputation import keep_activations, recompute_blocks
from counterpoint.training.row_exchange import start_gather
from counterpoint.training.step import batch_loss, labels_of, samples_of, step_twins


class Pretrainer(L.LightningModule):
    """Train one model on the images of a source."""

    def __init__(
        self,
        model: Model,
        source: Source,
        training: Training,
        *,
        steps: int,
        workers: int = 0,
        identity: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        labels_of(model, source, torch.arange(0))  # refuses a source that has none
        self.workers, self.identity = workers, identity or {}
        self.model, self.source, self.steps = model, source, steps
        self.training_settings = training
        self.world: World = ALONE
        self.place = Position()
        """Where this run starts or resumes."""
        self.since_update: list[tuple[Batch, Tensor]] = []
        """Batches and their losses that the next update is made of."""
        self.loss_of_update = torch.zeros(())
        """The loss of the last update: the mean of its parts, on this rank."""
        self.sharded = False
        """Whether a rank holds only its rows of the weights."""
        self.gather: Callable[[torch.device | None], Model | None] = lambda _device: self.model
        """Gives the plain model, of a sharded one to rank 0 only; all ranks have to ask."""
        self.divided = False
        """Whether a rank holds only its rows of a bank."""
        self.recomputed: tuple[nn.Module, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether all ranks have to ask for the plain model together."""
        return self.sharded or self.divided

    def plain_model(self, device: torch.device) -> Model | None:
        """Return the plain model with what it remembers, of several ranks to rank 0 only."""
        found = self.gather(device)
        if self.divided:
            found = found if self.trainer.is_global_zero else None
            whole_memory(self.model, found, self.trainer.strategy.root_device)
        return found

    def setup(self, stage: str) -> None:  # noqa: ARG002 (Lightning's signature)
        settings = self.training_settings
        lanes, budget = settings.lanes or 1, settings.slice_bytes
        self.world = world(settings.micro_batch, lanes=lanes, budget=budget)
        if self.training_settings.sync_batchnorm:
            fused = self.trainer.strategy.root_device.type == "cuda"
            share_statistics(self.model, self.world, fused=fused)
        self.divided = hold_rows(self, self.world)

    def train_dataloader(self) -> Batches:
        return Batches(
            self.source,
            batch=self.training_settings.micro_batch,
            together=self.training_settings.accumulate,
            seed=self.training_settings.seed,
            rank=self.global_rank,
            ranks=self.trainer.world_size,
            cut=self.model.views.cut,
            workers=self.workers,
            epoch=self.place.epoch,
            start=self.place.cursor,
            lanes=self.training_settings.lanes or 1,
            block_shards=self.training_settings.block_shards or BLOCK_SHARDS,
            pin=self.device.type == "cuda",
        )

    def on_fit_start(self) -> None:
        if self.training_settings.checkpoint_activations:
            self.recomputed = recompute_blocks(self.model)

    def teardown(self, stage: str) -> None:  # noqa: ARG002 (Lightning's signature)
        keep_activations(self.recomputed)

    def on_train_start(self) -> None:
        if isinstance(self.trainer.strategy.model, DistributedDataParallel):
            settle_buckets(self.trainer.strategy.model)

    def transfer_batch_to_device(
        self, batch: Batch, device: torch.device, dataloader_idx: int
    ) -> Batch:
        """Send the images; numbers of samples and of bad files are read by the host."""
        images = super().transfer_batch_to_device(batch.images, device, dataloader_idx)
        return batch._replace(images=images)

    def training_step(self, batch: Batch, _batch_idx: int) -> Tensor:
        seed = self.training_settings.seed
        # A part of a user's own may draw from torch: what it gets is a function of the step too,
        # so that there is no state of a generator to keep.
        step = self.global_step * self.training_settings.accumulate + len(self.since_update)
        torch.manual_seed(step_seed(seed, step, self.global_rank))
        draw = Draw(seed, self.current_epoch, send(batch.index, self.device))
        progress = self.global_step / self.steps
        samples = samples_of(self.model, self.source, batch, progress=progress)
        loss = batch_loss(self.model, batch, draw, samples, self._world_of(samples))
        whose = batch._replace(images=())  # who they were: the pixels of a part are done with
        self.since_update.append((whose, loss.detach()))
        if self.trainer.loggers:
            self.log("loss", loss.detach(), sync_dist=self.world.size > 1)
        return loss * self.training_settings.gradient_scale

    def _world_of(self, samples: Samples) -> World:
        """Tell the ranks who the samples of all of them are in this step: they follow from it.

        Labels do not: what a rank could not read, and so what stands in for it, no other rank
        knows. Where a part asks for labels the ranks exchange them.
        """
        if not isinstance(self.world, Ranks):
            return self.world
        batches = self.trainer.train_dataloader
        assert isinstance(batches, Batches)
        step = self.trainer.fit_loop.epoch_loop.batch_progress.current.ready - 1
        everyone = batches.sampler.whole(step)
        shares, labels = self.world.images(len(samples.index)), samples.labels
        assert torch.equal(everyone.split(shares)[self.world.rank], samples.index)
        if labels is not None:
            labels = start_gather(labels.to(self.device), shares, self.world.group)().cpu()
        return replace(self.world, samples=everyone, labels=labels)

    def finite(self) -> tuple[Bool[Tensor, ""], Bool[Tensor, ""]]:
        """Tell whether the losses since the last update, and their gradient, are numbers.

        The gradient is that of all ranks, or this rank's rows of it; the losses are its own.
        """
        losses = torch.stack([loss for _, loss in self.since_update]).sum()
        rows = local_rows(self._gradients())
        return losses.isfinite(), torch.nn.utils.get_total_norm(rows).isfinite()

    def gradient_norm(self) -> Float[Tensor, ""]:
        """Return the length of the gradient; of a sharded one all ranks have to ask."""
        gradients = self._gradients()
        if self.sharded:
            length: Tensor = torch.linalg.vector_norm(lengths_over_ranks(gradients))
            return length
        return torch.nn.utils.get_total_norm(gradients)

    def _gradients(self) -> list[Tensor]:
        return [p.grad for p in self.parameters() if p.grad is not None]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        place = position_of(self.trainer)
        length = int(self.trainer.num_training_batches)
        checkpoint["loops"]["fit_loop"] |= counters(place, length=length)
        checkpoint["state_dict"] = rows_to_save(self, checkpoint["state_dict"])
        checkpoint["counterpoint"] = {
            "place": asdict(place),
            "identity": self.identity,
            "torch": str(torch.__version__),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.place = Position(**checkpoint["counterpoint"]["place"])
        checkpoint["state_dict"] = rows_to_load(self, checkpoint["state_dict"])

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        clip(self, optimizer, gradient_clip_val, gradient_clip_algorithm)

    def optimizer_step(self, *arguments: Any, **named: Any) -> None:
        super().optimizer_step(*arguments, **named)
        self.loss_of_update = torch.stack([loss for _, loss in self.since_update]).mean()
        self.since_update.clear()
        step_twins(self.model, self.global_step / self.steps)  # once per update

    def configure_optimizers(self) -> Any:
        return scheduled_optimiser(self.model, self.training_settings, steps=self.steps)


def step_seed(seed: int, step: int, rank: int) -> int:
    """Return the seed of one step, or of one part of an accumulated one, on one rank.

    >>> step_seed(0, 3, 1) == step_seed(0, 1, 3)
    False
    """
    return ((seed * 1_000_003 + step) * 1_000_003 + rank) % 2**63
