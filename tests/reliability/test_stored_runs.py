"""kill -9 of a run on an object store, also in the middle of uploads: it resumes bit for bit."""

import random
import signal
from pathlib import Path

import pytest

from reliability.runs import end_of, losses_of
from reliability.test_kills import uninterrupted
from stores_server.faults import Faults

SLOW = Faults(seed=5, stalls=0.5, stall_seconds=0.1)
"""Uploads take long enough for a kill to meet one."""
PUTS = (4, 14)
"""Objects that a run writes before it is killed: it begins with three, a checkpoint has five."""
BROKEN = Faults(
    *(5, 0.05, 0.0, 0.02, 0.02, 30.0),  # seed, errors, resets, truncated, stalls of 30 s
    down_after=120,
    down_seconds=60.0,
)
"""The faults of a bad day: 5 % errors, 2 % truncated bodies, stalls, and an outage of a minute."""


def fetched(s3, key, folder):
    """All objects of a run, past the proxy."""
    for name in s3.keys(f"{key}/"):
        file = folder / name.removeprefix(f"{key}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(s3.get(name))
    return folder


def stored_settings(s3, folder, key, cache):
    return {
        "method": "simclr",
        "out": s3.address(key),
        "losses": str(folder / "losses"),
        "environment": s3.environment | {"COUNTERPOINT_RUNS": str(cache)},
    }


def storm(nursery, s3, tmp_path, *, kills, ranks, seed, **more):
    """Kill a run so often, each time going on with an empty cache or the one that it had."""
    chance = random.Random(seed)
    quiet, folder = tmp_path / "quiet", tmp_path / "killed"
    quiet.mkdir()
    folder.mkdir()
    uninterrupted(nursery, quiet, "simclr", ranks, more)
    key, hits, caches = f"storm-{seed}/run", 0, 0
    half = 0  # kills that met an upload: files of a checkpoint without its manifest
    while True:
        settings = stored_settings(s3, folder, key, tmp_path / f"cache-{caches}") | more
        job = nursery.start(ranks, folder / "log", job="stored", settings=settings)
        if hits < kills and _written(nursery, job, s3, chance.randint(*PUTS)):
            job.signal(signal.SIGKILL)
            hits += 1
            caches += chance.random() < 0.7
            assert nursery.wait(job, timeout=20)
            half += _half_uploaded(s3, key)
            continue
        assert nursery.wait(job, timeout=400), "hangs"
        log = (folder / "log.0").read_text()
        assert set(job.codes.values()) == {0}, log[-3000:]
        break
    assert losses_of(folder, ranks=ranks) == losses_of(quiet, ranks=ranks)
    assert end_of(fetched(s3, key, tmp_path / "there")) == end_of(quiet / "run")
    return hits, half, log


def _written(nursery, job, s3, objects):
    """Wait until a run has written so many objects; False when it has ended before."""
    goal = s3.counts().get("requests PUT", 0) + objects
    while s3.counts().get("requests PUT", 0) < goal:
        if nursery.wait(job, timeout=0.005):
            return False
    return True


def _half_uploaded(s3, key):
    names = {Path(name).parent.name for name in s3.keys(f"{key}/checkpoints/")}
    whole = {
        Path(name).parent.name for name in s3.keys(f"{key}/") if name.endswith("manifest.json")
    }
    return len(names - whole) > 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_killed_run_in_a_store_goes_on_to_the_bit(nursery, s3, tmp_path, ranks):
    s3.break_it(SLOW)
    hits, _, _ = storm(nursery, s3, tmp_path, kills=3, ranks=ranks, seed=ranks)
    assert hits == 3


@pytest.mark.full
def test_thirty_kills_with_some_in_the_middle_of_uploads(nursery, s3, tmp_path):
    s3.break_it(SLOW)
    found = [
        storm(nursery, s3, tmp_path / str(seed), kills=6, ranks=1 + seed % 2, seed=seed, epochs=6)
        for seed in range(10, 15)
        if not (tmp_path / str(seed)).mkdir()
    ]
    hits, half = (sum(one[n] for one in found) for n in (0, 1))
    print({"kills": hits, "in the middle of uploads": half})
    assert hits == 30
    assert half > 0


@pytest.mark.full
def test_the_faults_of_a_bad_day_change_nothing(nursery, s3, tmp_path):
    s3.break_it(BROKEN)
    _, _, log = storm(nursery, s3, tmp_path, kills=2, ranks=2, seed=20, epochs=6)
    counts = s3.counts()
    print(counts)
    assert counts["refused"] > 0
    assert counts.get("stall", 0) > 0
    assert "again in" in log
