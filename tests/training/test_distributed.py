"""W ranks give the gradient of one process with the whole batch."""

import json
import threading
import traceback

import pytest
import torch
import torch.distributed as dist

from training import gradients
from training.rank_processes import run_ranks

BOUND = 1e-12

WORKER = """
import json, sys
import torch
import torch.distributed as dist
torch.set_num_threads(1)
rank, ranks, store, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
from training import gradients
errors = {}
for size in range(1, ranks + 1):
    group = dist.new_group(list(range(size)))
    if rank >= size:
        continue
    for name, method in gradients.METHODS.items():
        for count in (12, 11):  # 11 is uneven for 2, 3 and 4
            world = gradients.Ranks(group)
            if count == 12 or size == 3:  # otherwise the ranks exchange who they have
                world = gradients.of_step(world, count)
            errors[f"{size} {name} {count}"] = gradients.error(method, count, world, rank, ddp=True)
    for count, rounds, names in gradients.SLICES.get(size, ()):
        world = gradients.of_step(gradients.InSlices(group, rounds=rounds), count)
        for name in names:
            seen, method = len(world.seen), gradients.METHODS[name]
            key = f"slices {size} {name} {count} {rounds}"
            errors[key] = gradients.error(method, count, world, rank, ddp=True)
            if name not in gradients.AT_ONCE and len(world.seen) == seen:
                errors[key] = 1.0
    if size > 1:
        method = gradients.METHODS["learned temperature"]
        forgetful = gradients.of_step(gradients.Forgetful(group, rounds=2), 12)
        wrong = gradients.error(method, 12, forgetful, rank, ddp=True)
        errors[f"forgetful {size}"] = wrong
    if size > 1:
        method = gradients.METHODS["learned temperature"]
        wrong = gradients.error(method, 12, gradients.WithoutGradient(group), rank, ddp=True)
        errors[f"wrong {size}"] = wrong
with open(f"{out}/{rank}.json", "w") as file:
    json.dump(errors, file)
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """Run four gloo processes on the loopback address; groups of 1 to 4 of them train."""
    place = tmp_path_factory.mktemp("ranks")
    run_ranks(WORKER, 4, 4, place / "store", place, seconds=300)
    found = {}
    for file in sorted(place.glob("*.json")):
        for key, value in json.loads(file.read_text()).items():
            found[key] = max(value, found.get(key, 0.0))
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_processes_give_the_gradient_of_one(errors, size):
    from training import gradients

    mine = {key: value for key, value in errors.items() if key.startswith(f"{size} ")}
    assert len(mine) == 2 * len(gradients.METHODS)  # for 12 images and for 11
    assert max(mine.values()) < BOUND, mine


@pytest.mark.parametrize("size", [2, 3])
def test_candidates_in_slices_give_the_gradient_of_one(errors, size):
    mine = {key: value for key, value in errors.items() if key.startswith(f"slices {size} ")}
    assert len(mine) == sum(len(names) for *_, names in gradients.SLICES[size])
    assert max(mine.values()) < BOUND, mine


@pytest.mark.parametrize("size", [2, 3, 4])
def test_slices_whose_gradient_does_not_come_back_fail(errors, size):
    assert errors[f"forgetful {size}"] > 1e-3


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_gather_without_gradient_fails(errors, size):
    assert errors[f"wrong {size}"] > 1e-3


def test_sixty_four_threads_give_the_gradient_of_one():
    from torch.testing._internal.distributed import multi_threaded_pg

    from training import gradients

    ranks, store = 64, dist.HashStore()
    found, failed = {}, []
    method = gradients.METHODS["learned temperature"]
    gradients.built(method)
    multi_threaded_pg._install_threaded_pg()
    torch._C._distributed_c10d._set_thread_isolation_mode(True)

    def work(rank):
        try:
            dist.init_process_group("threaded", rank=rank, world_size=ranks, store=store)
            found[rank] = gradients.error(method, 150, gradients.Ranks(), rank, ddp=False)
            dist.destroy_process_group()
        except BaseException:  # noqa: BLE001 (shown by the assert below)
            failed.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(ranks)]
    try:
        with torch.autograd.set_multithreading_enabled(False):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(timeout=120)
    finally:
        torch._C._distributed_c10d._set_thread_isolation_mode(False)
        multi_threaded_pg._uninstall_threaded_pg()
    assert not failed, failed[0]
    assert len(found) == ranks
    assert max(found.values()) < BOUND


def test_buffers_are_not_sent_around():
    from lightning.pytorch.strategies import DDPStrategy

    from counterpoint import Training
    from counterpoint.training.trainer import trainer_for

    def sent(**asked):
        runner = trainer_for(Training(), [], [], steps=1, asked={"accelerator": "cpu", **asked})
        return runner.strategy._ddp_kwargs.get("broadcast_buffers", True)

    assert not sent(devices=2)
    assert sent(devices=2, strategy=DDPStrategy())  # what was asked for is left as it is


@pytest.mark.parametrize("batch", [8, 11, 3])
def test_everyone_is_known_without_an_exchange(batch):
    from torch.testing._internal.distributed.fake_pg import FakeStore

    from counterpoint.training.distributed import Ranks

    samples = torch.randperm(100)[:batch]
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=3)
    try:
        found = Ranks(batch=batch, samples=samples).everyone(
            lambda samples: samples.index.repeat(2) * 7
        )
    finally:
        dist.destroy_process_group()
    shares = samples.tensor_split(3)
    assert found.sizes == tuple(2 * len(share) for share in shares)
    assert torch.equal(found.identity, torch.cat([share.repeat(2) * 7 for share in shares]))
