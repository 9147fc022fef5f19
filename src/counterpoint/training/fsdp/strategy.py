"""FSDP2 for Lightning: processes and launcher are those of DDP, weights are shared out."""

from collections.abc import Mapping
from typing import Any

import torch
from lightning.pytorch.strategies import DDPStrategy
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from counterpoint.framework import Model
from counterpoint.training.cost import shadow
from counterpoint.training.fsdp.row_lengths import lengths_over_ranks
from counterpoint.training.fsdp.row_steps import step_on_rows, zero_missing
from counterpoint.training.fsdp.shard_model import shard_model
from counterpoint.training.fsdp.state_rows import as_sharded
from counterpoint.training.fsdp.whole_model import whole_model
from counterpoint.training.lars import Lars
from counterpoint.training.pretrainer import Pretrainer


class Fsdp2Strategy(DDPStrategy):
    """Train a `Pretrainer` whose model is sharded by rows over all ranks.

    Lightning's own strategy for FSDP2 is experimental and has checkpoints of its own. This one adds
    to DDP's how weights are shared out (`shard_model`), stepped (`step_on_rows`) and read. States
    hold DTensors as they are: each rank saves its own rows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mesh: DeviceMesh | None = None
        self.skeleton: Model | None = None

    @property
    def pretrainer(self) -> Pretrainer:
        """What is trained: nothing else can be sharded."""
        assert isinstance(self.lightning_module, Pretrainer)
        return self.lightning_module

    @property
    def restore_checkpoint_after_setup(self) -> bool:
        """Load after the model is sharded, so that each rank needs its own rows only."""
        return True

    def model_to_device(self) -> None:
        """Leave the model where it is: its blocks are moved one by one as they are shared out."""

    def configure_ddp(self) -> None:
        """Shard, in the place of a wrapper around the model."""
        module = self.pretrainer
        self.mesh = init_device_mesh(self.root_device.type, (self.world_size,))
        self.skeleton = shadow(module.model)
        settings = module.training_settings
        shard_model(module.model, self.mesh, compiled=settings.compile)
        module.to(self.root_device)
        module.sharded, module.gather = True, self.whole
        io: Any = self.checkpoint_io
        io.mesh = self.mesh

    def setup_optimizers(self, trainer: Any) -> None:
        """Let optimisers step on this rank's rows."""
        super().setup_optimizers(trainer)
        for optimiser in self.optimizers:
            step_on_rows(optimiser)
            if isinstance(optimiser, Lars):
                optimiser.lengths = lengths_over_ranks

    def post_backward(self, closure_loss: Tensor) -> None:
        """Give every weight a gradient, as one process has."""
        super().post_backward(closure_loss)
        zero_missing(self.pretrainer.parameters())

    def load_model_state_dict(self, checkpoint: Mapping[str, Any], strict: bool = True) -> None:  # noqa: FBT001, FBT002 (Lightning's)
        """Load a state that is sharded or whole."""
        own = self.pretrainer.state_dict()
        state = {
            name: as_sharded(value, own[name]) if name in own else value
            for name, value in checkpoint["state_dict"].items()
        }
        self.pretrainer.load_state_dict(state, strict=strict)

    def whole(self, device: torch.device | None = None) -> Model | None:
        """Return the plain model to rank 0; every rank has to ask."""
        assert self.skeleton is not None
        model = self.pretrainer.model
        return whole_model(model, self.skeleton, keep=self.is_global_zero, device=device)

    def teardown(self) -> None:
        """Leave the model on its device: its rows are asked for when the run is written."""
        module, self._lightning_module = self._lightning_module, None
        super().teardown()
        self._lightning_module = module
