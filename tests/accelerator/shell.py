"""Lightning on the pretend accelerator, as one of many ranks if asked for.

    with pretend() as seen, ranks(8):
        pretrain("simclr-small", source, out=folder, patience=0, **on_accelerator(ranks=8))

Collectives are those of torch's fake process group: they cost nothing and every rank is as
this one. The gradient is not averaged: that is DDP's work, and it does not wait.
"""

from contextlib import contextmanager
from unittest import mock

import torch.distributed as dist
from lightning.pytorch.accelerators import Accelerator
from lightning.pytorch.plugins import MixedPrecision
from lightning.pytorch.strategies import SingleDeviceStrategy
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._pytree import tree_map

from accelerator.backend import DEVICE, NAME
from accelerator.tensor import is_here
from counterpoint.training.callbacks import keeper


class PretendAccelerator(Accelerator):
    """What Lightning asks of an accelerator."""

    def setup_device(self, device):
        assert device == DEVICE

    def teardown(self):
        pass

    def get_device_stats(self, device):
        return {}

    @staticmethod
    def parse_devices(devices):
        return 1

    @staticmethod
    def get_parallel_devices(devices):
        return [DEVICE]

    @staticmethod
    def auto_device_count():
        return 1

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def name():
        return NAME


class OneOfMany(SingleDeviceStrategy):
    """A rank among others, none of which is there."""

    def __init__(self, *, ranks=1, rank=0):
        super().__init__(device=DEVICE, accelerator=PretendAccelerator())
        self.world_size, self.global_rank = ranks, rank

    @property
    def is_global_zero(self):
        return self.global_rank == 0

    def setup_environment(self):
        super().setup_environment()
        if isinstance(self.precision_plugin, MixedPrecision):
            self.precision_plugin.device = NAME  # Lightning knows "cpu" and "cuda" only

    # A checkpoint takes dense tensors of torch's own type only.
    def lightning_module_state_dict(self):
        return _plain(super().lightning_module_state_dict())

    def optimizer_state(self, optimizer):
        return _plain(super().optimizer_state(optimizer))


def on_accelerator(*, ranks=1, rank=0):
    """Return the arguments of `pretrain` that place it on the pretend accelerator."""
    return {"strategy": OneOfMany(ranks=ranks, rank=rank)}


@contextmanager
def ranks(count, *, rank=0):
    """Join a fake process group of N ranks; one rank needs none."""
    if count == 1:
        yield
        return
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=count)
    try:
        # No other rank writes a share of a checkpoint: this one writes all, as on disks of its own.
        with mock.patch.object(keeper, "all_see", return_value=False):
            yield
    finally:
        dist.destroy_process_group()


def _plain(state):
    return tree_map(lambda x: x.cpu() if is_here(x) else x, state)
