"""Candidates that come in slices: every method, 1 to 4 processes, every number of slices."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from training import gradients

HERE = Path(__file__).parent
BOUND = 1e-12
ROUNDS = (1, 2, 5, 16)

WORKER = """
import json, sys
import torch
import torch.distributed as dist
torch.set_num_threads(1)
rank, ranks, store, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
from training import gradients
errors = {}
for name, method in gradients.METHODS.items():
    for count in (12, 11):
        for rounds in (1, 2, 5, 16):
            world = gradients.of_step(gradients.InSlices(rounds=rounds), count)
            seen = len(world.seen)
            key = f"{name} {count} {rounds}"
            errors[key] = gradients.error(method, count, world, rank, ddp=True)
            sliced = rounds > 1 and name not in gradients.AT_ONCE
            if sliced != (len(world.seen) > seen):
                errors[key] = 1.0
with open(f"{out}/{rank}.json", "w") as file:
    json.dump(errors, file)
dist.destroy_process_group()
"""


@pytest.mark.full
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_method_in_slices_gives_the_update_of_one_process(ranks, tmp_path):
    environment = {
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]),
        "GLOO_SOCKET_IFNAME": "lo",
        "PATH": "",
        "OMP_NUM_THREADS": "1",
    }
    words = [sys.executable, "-c", WORKER]
    processes = [
        subprocess.Popen(
            [*words, str(rank), str(ranks), str(tmp_path / "store"), str(tmp_path)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    for process in processes:
        _, complaint = process.communicate(timeout=900)
        assert process.returncode == 0, complaint
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(ranks)]
    errors = {key: max(each[key] for each in found) for key in found[0]}
    assert len(errors) == len(gradients.METHODS) * 2 * len(ROUNDS)
    assert max(errors.values()) < BOUND, errors
