"""A step of every method with sharded weights as one of 1,024 ranks, on the fake process group."""

import gc

import pytest
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.training.fsdp.row_lengths import lengths_over_ranks
from counterpoint.training.fsdp.row_steps import step_on_rows, zero_missing
from counterpoint.training.fsdp.shard_model import shard_model
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import step_twins
from training import gradients
from training.sharded_steps import settings

SAMPLE = ("amdim", "byol, batch norm", "cmc, batch norm")
OTHERS = ("cpc", "simclr, batch norm", "moco, shuffled batch norm", "yadim")
EACH = 2
"""Images of a rank."""


class Collectives(TorchDispatchMode):
    """Count what is sent to other ranks."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func.namespace in ("c10d", "_c10d_functional")
        return func(*args, **(kwargs or {}))


@pytest.fixture
def fake():
    """Start a fake process group of some size; its messages arrive nowhere."""

    def start(ranks):
        dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=ranks)
        return init_device_mesh("cpu", (ranks,))

    yield start
    if dist.is_initialized():
        dist.destroy_process_group()
    gc.collect()


def step(method, mesh):
    """Train one step as rank 1; return the model and how many messages there were."""
    ranks = mesh.size()
    world = gradients.of_step(gradients.Ranks(), EACH * ranks)
    model = gradients.model_of(method)
    share_statistics(model, world)
    whole = sum(weight.numel() for weight in model.parameters())
    shard_model(model, mesh)
    chosen = optimiser(model, settings("lars"))
    step_on_rows(chosen)
    chosen.lengths = lengths_over_ranks
    views, samples = gradients.own(EACH * ranks, world, 1)
    with Collectives() as sent:
        model(views, samples, world).backward()
        zero_missing(model.parameters())
        chosen.step()
        step_twins(model, 0.0)
    held = sum(weight.to_local().numel() for weight in model.parameters())
    return whole, held, sent.count


@pytest.mark.parametrize(
    "name", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.full) for name in OTHERS)]
)
def test_every_method_runs_a_step_on_1024_ranks(name, fake):
    method = gradients.METHODS[name].for_samples(1000 + 1024 * EACH)
    whole, held, sent = step(method, fake(1024))
    assert held <= whole / 4  # weights of a few rows: most ranks have none
    dist.destroy_process_group()
    _, _, few = step(method, fake(8))
    assert sent == few > 0  # messages do not grow with the ranks
