"""Sharded ranks give the gradients and the updated weights of one process."""

import json

import pytest

from training.rank_processes import run_ranks

BOUND = 1e-12
SAMPLE = (
    "learned temperature",
    "amdim",
    "cpc",
    "yadim",
    "simclr, batch norm",
    "moco, shuffled batch norm",
    "byol, batch norm",
    "cmc, batch norm",
)
"""Of the seven methods one each, with batch norm where they have it."""

WORKER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import torch
import torch.distributed as dist
torch.set_num_threads(1)
rank, ranks, store, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
from training import gradients, sharded_steps
found = {}
for size, names, counts, optimisers, strategy, recompute, rounds in json.loads(sys.argv[5]):
    group = dist.new_group(list(range(size)))
    if rank >= size:
        continue
    for name in names or gradients.METHODS:
        for count in counts:
            world = gradients.Ranks(group, rounds=rounds)
            if count == 12 or rounds > 1:  # otherwise the ranks exchange who they have
                world = gradients.of_step(world, count)
            for optimiser in optimisers:
                how = {"strategy": strategy, "recompute": recompute}
                key = f"{size} {name} {count} {optimiser} {strategy} {recompute} {rounds}"
                found[key] = sharded_steps.errors(
                    gradients.METHODS[name], count, world, rank, optimiser, **how
                )
with open(f"{out}/{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
"""


def errors_of(place, trials, *, ranks, seconds):
    """Train on gloo processes on the loopback address; return the largest errors of any rank."""
    given = (ranks, place / "store", place, json.dumps(trials))
    run_ranks(WORKER, ranks, *given, seconds=seconds)
    found = {}
    for file in sorted(place.glob("*.json")):
        for key, value in json.loads(file.read_text()).items():
            found[key] = max(*value, found.get(key, 0.0))
    return found


def test_two_uneven_ranks_are_as_one_process(tmp_path):
    trials = [
        [2, SAMPLE, [11], ["lars"], "fsdp2", False, 1],
        [2, SAMPLE[-1:], [12], ["adamw"], "fsdp2", True, 1],
        [2, SAMPLE[:2], [11], ["sgd"], "ddp", False, 1],
        [2, SAMPLE[:2], [11], ["lars"], "fsdp2", False, 5],
    ]
    found = errors_of(tmp_path, trials, ranks=2, seconds=200)
    assert len(found) == len(SAMPLE) + 5
    assert max(found.values()) < BOUND, found


@pytest.mark.full
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_all_methods_and_optimisers_are_as_one_process(tmp_path, size):
    trials = [
        [size, None, [12, 11], ["lars"], "ddp", False, 1],
        [size, None, [12, 11], ["lars", "sgd", "adamw"], "fsdp2", False, 1],
        [size, None, [12, 11], ["lars"], "fsdp2", True, 1],
        [size, None, [11], ["lars"], "fsdp2", False, 2],
    ]
    found = errors_of(tmp_path, trials, ranks=size, seconds=1400)
    assert len(found) >= 25 * 11
    assert max(found.values()) < BOUND, {k: v for k, v in found.items() if not v < BOUND}
