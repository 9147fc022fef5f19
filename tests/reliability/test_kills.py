"""kill -9 at any moment: the run resumes bit for bit."""

import json
import random
import signal
import time

import pytest

from counterpoint import catalogue
from reliability.jobs import IMAGES
from reliability.runs import end_of, losses_of

METHODS = ("amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim")
NEWER = tuple(name for name in catalogue.METHODS if name not in METHODS)
SAMPLE = ("nnclr", "instdisc")  # they remember something from step to step
LONGEST = 6.0  # seconds to a kill: the start of a job, and then some steps and saves


def settings_for(folder, method, more):
    out, losses = str(folder / "run"), str(folder / "losses")
    return {"method": method, "out": out, "losses": losses, **more}


def uninterrupted(nursery, folder, method, ranks, more):
    """Train once in peace, and say how long that took."""
    settings = settings_for(folder, method, more)
    job = nursery.start(ranks, folder / "log", job="train", settings=settings)
    assert nursery.wait(job, timeout=120), "hangs"
    assert set(job.codes.values()) == {0}, (folder / "log.0").read_text()
    return max(job.ended.values()) - job.started


def killed(nursery, folder, method, ranks, more, *, kills, seconds, chance):
    """Train while being killed; give the kills that hit before the run had ended."""
    settings = settings_for(folder, method, more)
    hit = 0
    while True:
        job = nursery.start(ranks, folder / "log", job="train", settings=settings)
        when = chance.uniform(0, min(seconds, LONGEST))
        if hit < kills and not nursery.wait(job, timeout=when):
            job.signal(signal.SIGKILL)
            hit += 1
            assert nursery.wait(job, timeout=20)
            continue
        assert nursery.wait(job, timeout=120), "hangs"
        assert set(job.codes.values()) == {0}, (folder / "log.0").read_text()
        return hit


def storm(nursery, tmp_path, method, *, kills, seed, ranks=2, **more):
    """Kill one method until it has been hit so often, over several runs if need be."""
    chance = random.Random(seed)
    quiet = tmp_path / "quiet"
    quiet.mkdir()
    seconds = uninterrupted(nursery, quiet, method, ranks, more)
    wanted = (losses_of(quiet, ranks=ranks), end_of(quiet / "run"))
    assert len(wanted[0][0]) == 5 * more.get("epochs", 2)  # every step of 5 an epoch
    hits, number = 0, 0
    while hits < kills:
        folder = tmp_path / f"killed-{number}"
        folder.mkdir()
        number += 1
        hits += killed(
            nursery,
            folder,
            method,
            ranks,
            more,
            kills=kills - hits,
            seconds=seconds,
            chance=chance,
        )
        assert losses_of(folder, ranks=ranks) == wanted[0]
        assert end_of(folder / "run") == wanted[1]
    return hits


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_goes_on_to_the_bit(nursery, tmp_path, method):
    assert storm(nursery, tmp_path, method, kills=3, seed=METHODS.index(method)) == 3


def test_so_does_one_that_reads_photos_with_workers_and_looks_at_its_health(
    nursery, data, tmp_path
):
    photos = tmp_path / "photos"
    photos.mkdir()
    for number, file in enumerate(sorted((data / "caltech20").glob("*/*.jpg"))[::18][:IMAGES]):
        (photos / f"{number}.jpg").symlink_to(file)
    (photos / "40.jpg").unlink()
    (photos / "40.jpg").write_bytes(b"no image")  # found, replaced, and listed after every kill
    more = {"folder": str(photos), "workers": 2, "health": True, "size": 32}
    assert storm(nursery, tmp_path, "simclr", kills=3, seed=7, ranks=1, **more) == 3
    for run in (tmp_path / "quiet" / "run", tmp_path / "killed-0" / "run"):
        (bad,) = (run / "quarantine.jsonl").read_text().splitlines()
        assert json.loads(bad)["kind"] == "not an image"
        looks = [json.loads(line) for line in (run / "health.jsonl").read_text().splitlines()]
        assert [look["step"] for look in looks] == [0, 5, 10]


@pytest.mark.parametrize(
    "method", [m if m in SAMPLE else pytest.param(m, marks=pytest.mark.full) for m in NEWER]
)
def test_five_kills_of_each_newer_method(nursery, tmp_path, method):
    assert storm(nursery, tmp_path, method, kills=5, seed=200, epochs=3) == 5


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_thirty_kills_of_each_method(nursery, tmp_path, method):
    started = time.monotonic()
    seed = 100 + METHODS.index(method)
    hits = storm(nursery, tmp_path, method, kills=30, seed=seed, epochs=12)
    print(json.dumps({"method": method, "kills": hits, "seconds": time.monotonic() - started}))
    assert hits == 30
