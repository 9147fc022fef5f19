"""Bytes on the wire: the plan's, against what a rank of torch's fake process group exchanges."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from accelerator.shell import ranks
from counterpoint.framework import Draw, contrast
from counterpoint.framework.settings import Training
from counterpoint.methods import SEVEN, method_named
from counterpoint.plan.collectives import candidate_collectives
from counterpoint.training.distributed import Ranks
from counterpoint.training.traffic import exchanges_of

SAMPLE = ("simclr", "moco")  # MoCo's queue gathers the keys of all ranks besides

OPERATIONS = {
    "c10d::_allgather_base_": "all_gather",
    "c10d::_reduce_scatter_base_": "reduce_scatter",
    "c10d::allreduce_": "all_reduce",
}


class Exchanged(TorchDispatchMode):
    """The bytes of the largest tensor of every collective: that of all ranks together."""

    def __init__(self):
        super().__init__()
        self.bytes = Counter()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        name = operator.name().partition(".")[0]
        if name in OPERATIONS:
            tensors = [x for x in tree_leaves(args) if isinstance(x, torch.Tensor)]
            self.bytes[OPERATIONS[name]] += max(x.numel() * x.element_size() for x in tensors)
        return operator(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "name",
    [*SAMPLE, *(pytest.param(n, marks=pytest.mark.full) for n in SEVEN if n not in SAMPLE)],
)
@pytest.mark.parametrize("count", [8, pytest.param(1024, marks=pytest.mark.full)])
def test_bytes_are_those_of_the_fake_group(name, count):
    method = method_named(f"{name}-small", size=32).for_samples(4 * count)
    torch.manual_seed(0)
    model, index = method.build(image=(3, 32, 32)), torch.arange(4)
    pixels = torch.randint(256, (4, 3, 32, 32), dtype=torch.uint8)
    views = model.views(pixels, Draw(0, 0, index))
    with ranks(count), Exchanged() as seen:
        world = Ranks(batch=4 * count, samples=torch.arange(4 * count))
        contrast(model, views, index, world).backward()
    exchanges = exchanges_of(model, Training(batch=4 * count), ranks=count)
    planned = Counter()
    for one in candidate_collectives(exchanges, count):
        planned[one.operation] += one.size
    assert seen.bytes["all_gather"] == planned["all_gather"]
    assert seen.bytes["reduce_scatter"] == planned["reduce_scatter"]
    # Not planned: how many terms there are, and for AMDIM's penalty in slices C^T C of each map.
    assert seen.bytes["all_reduce"] < max(100, seen.bytes["all_gather"] / 100)
