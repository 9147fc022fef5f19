"""kill -9 of ranks that train on shards, with other numbers of ranks in the middle of epochs."""

import io
import json
import random
import re
import signal
import time

import numpy as np
import pytest
import torch
from PIL import Image

from counterpoint.data.order import Order
from reliability.runs import end_of, losses_of
from shard_folders import make_shards

RAGGED = (8, 5, 7, 6, 4, 9, 6, 7, 5, 8, 9, 6)  # 80 images: 8 lanes, which cut shards
METHOD, EPOCHS, STEPS = "simclr", 3, 15
WALK = ((2, 8), (3, 11), (1, STEPS))  # ranks, and the step that is their last; 5 steps an epoch


@pytest.fixture(scope="module")
def shards(few, tmp_path_factory):
    """Real images in ragged shards."""

    def picture(number):
        file = io.BytesIO()
        Image.fromarray(np.load(few)[number].transpose(1, 2, 0)).save(file, "PNG")
        return file.getvalue()

    return make_shards(
        tmp_path_factory.mktemp("shards"), RAGGED, labels=False, shape=(3, 32, 32), picture=picture
    )


def settings_for(folder, shards, **more):
    out, losses = str(folder / "run"), str(folder / "losses")
    names = {"method": METHOD, "out": out, "losses": losses, "folder": str(shards)}
    return {**names, "epochs": EPOCHS, "block_shards": 1, **more}


def walk(nursery, folder, shards, *, kills=0, chance=None, workers=0):
    """Train with 2, 3 and 1 ranks in turn, all hit by kill -9 at the end of their stretch.

    Up to `kills` more hit them on the way; say how many did.
    """
    folder.mkdir()
    hits = 0
    for ranks, last in WALK:
        ended = False
        while not ended:
            settings = settings_for(folder, shards, step=last, workers=workers)
            job = nursery.start(ranks, folder / "log", job="train_until", settings=settings)
            if hits < kills and hit(nursery, job, folder, last, chance):
                hits += 1
                assert nursery.wait(job, timeout=60)
                kept = (folder / "run" / "checkpoints").glob(f"step-*{last}")
                ended = last < STEPS and bool(list(kept))
                continue
            assert nursery.wait(job, timeout=300), "hangs"
            wanted = {0} if last == STEPS else {-signal.SIGKILL}
            assert set(job.codes.values()) == wanted, (folder / "log.0").read_text()
            ended = True
    return hits


def hit(nursery, job, folder, last, chance):
    """Kill all ranks: some seconds after the start, or shortly after one of the next steps."""
    here = steps_done(folder)
    goal = chance.randint(here, last)
    wait = chance.uniform(0.5, 5) if goal == here else 300
    end = time.monotonic() + wait
    while time.monotonic() < end and (goal == here or steps_done(folder) < goal):
        if nursery.wait(job, timeout=0.005):
            return False
    if nursery.wait(job, timeout=chance.uniform(0, 0.3)):
        return False
    job.signal(signal.SIGKILL)
    return True


def steps_done(folder):
    file = folder / "losses.0"
    lines = file.read_text().splitlines() if file.is_file() else []
    steps = [re.match(r'{"step": (\d+),', line) for line in lines]  # some are half a line
    return max((int(found[1]) for found in steps if found), default=0)


def batches(folder, ranks):
    """The samples of every step, over the ranks that took part in it."""
    every = losses_of(folder, ranks=ranks)
    steps = sorted({step for losses in every for step in losses})
    return {
        step: [n for losses in every if step in losses for n in losses[step][2]] for step in steps
    }


def batches_of_one_process():
    """The samples of every step as the order gives them to one rank."""
    order = Order(80, 16, 0, lanes=8, block_shards=1, counts=torch.tensor(RAGGED))
    found = []
    for epoch in range(EPOCHS):
        order.set_epoch(epoch)
        found += [share.tolist() for share in order.shares()]
    return dict(enumerate(found, start=1))


def storm(nursery, tmp_path, shards, *, kills, seed):
    """Compare walks that are killed with one that is not, bit for bit, until all kills have hit."""
    chance = random.Random(seed)
    walk(nursery, tmp_path / "quiet", shards)
    quiet, same = losses_of(tmp_path / "quiet", ranks=3), batches_of_one_process()
    assert batches(tmp_path / "quiet", 3) == same
    assert sorted(n for step in range(1, 6) for n in same[step]) == list(range(80))
    hits = number = 0
    while hits < kills:
        folder = tmp_path / f"killed-{number}"
        number += 1
        hits += walk(nursery, folder, shards, kills=kills - hits, chance=chance, workers=number % 2)
        assert losses_of(folder, ranks=3) == quiet  # to the bit, at equal ranks
        assert batches(folder, 3) == same  # and the batches are those of one process
        assert end_of(folder / "run") == end_of(tmp_path / "quiet" / "run")
    return hits


def test_killed_ranks_on_shards_go_on_to_the_bit(nursery, shards, tmp_path):
    assert storm(nursery, tmp_path, shards, kills=1, seed=0) == 1


@pytest.mark.full
def test_thirty_kills_on_shards(nursery, shards, tmp_path):
    started = time.monotonic()
    hits = storm(nursery, tmp_path, shards, kills=30, seed=1)
    print(json.dumps({"kills": hits, "seconds": time.monotonic() - started}))
    assert hits == 30
