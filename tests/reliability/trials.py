"""One process of a run is stopped, killed or not answered: who is named, and how soon."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from counterpoint.training.watchdog.processes import alive

PATIENCE = 4.0
WORDS = {signal.SIGSTOP: "is stopped", signal.SIGKILL: "was killed"}


@dataclass
class Trial:
    """What was done, and what came of it; `said` are the last words of each rank."""

    what: str
    seconds: float
    """Until every rank that could end had ended."""
    codes: dict
    said: list[str]


def settings(folder, /, **more):
    """A run that lasts until it is ended."""
    out, losses = str(folder / "run"), str(folder / "losses")
    long = {"method": "simclr", "save_seconds": 1e9, "epochs": 1000, "patience": PATIENCE}
    return {"out": out, "losses": losses, **long, **more}


def reading(photos):
    return {"folder": str(photos), "workers": 2, "size": 32}


def steps_of(folder, rank):
    file = folder / f"losses.{rank}"
    lines = file.read_text().splitlines() if file.is_file() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def wait_for_step(folder, step, *, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done = steps_of(folder, 0)
        if done and done[-1]["step"] >= step:
            return
        time.sleep(0.005)
    raise AssertionError((folder / "log.0").read_text())


def workers_of(pid):
    """The processes that read for a rank."""
    found = [f.read_text().split() for f in Path(f"/proc/{pid}/task").glob("*/children")]
    return sorted(int(child) for children in found for child in children)


def begun(nursery, folder, ranks, step, /, *, job="train", **more):
    """Start a run and wait until it is at a step."""
    folder.mkdir()
    started = nursery.start(ranks, folder / "log", job=job, settings=settings(folder, **more))
    wait_for_step(folder, step)
    return started


def ended(nursery, job, folder, what, *, told, but=()):
    """Wait for the ranks that can end; give how long it took them and what they said."""
    others = [rank for rank in range(len(job.pids)) if rank not in but]
    stop = told + PATIENCE + 20
    while not all(rank in job.codes for rank in others) and time.monotonic() < stop:
        nursery.wait(job, timeout=0.05)
    late = [rank for rank in others if rank not in job.codes]
    job.signal(signal.SIGKILL)
    assert nursery.wait(job, timeout=20)
    said = [(folder / f"log.{rank}").read_text()[-1500:] for rank in others]
    assert not late, (what, late, said)
    seconds = max(job.ended[rank] for rank in others) - told
    return Trial(what, seconds, {rank: job.codes[rank] for rank in others}, said)


def hit_worker(nursery, folder, photos, chance, number, *, ranks):
    """Stop or kill one of the workers of a rank."""
    job = begun(nursery, folder, ranks, chance.randint(1, 8), **reading(photos))
    rank = chance.randrange(ranks)
    while len(found := workers_of(job.pids[rank])) < 2:
        time.sleep(0.001)
    worker = chance.choice(found)
    time.sleep(chance.uniform(0, 0.1))
    told = time.monotonic()
    os.kill(worker, number)
    trial = ended(nursery, job, folder, f"worker of rank {rank} {number.name}", told=told)
    stop = time.monotonic() + 5
    while alive(worker) and time.monotonic() < stop:
        time.sleep(0.01)
    assert not alive(worker), "the worker is left behind"
    assert set(trial.codes.values()) == {1}, trial
    # A stopped worker is in the verdict, which all ranks say. One that was killed ends its rank,
    # which says so; the others name that rank, and its last words when they still heard them.
    knowing = trial.said if number == signal.SIGSTOP else [trial.said[rank]]
    assert all(f"process {worker} {WORDS[number]}" in words for words in knowing), trial
    others = [words for other, words in enumerate(trial.said) if other != rank]
    assert all(f"rank {rank} (process {job.pids[rank]}" in words for words in others), trial
    return trial


def hit_rank(nursery, folder, chance, number, *, ranks, job="train"):
    """Stop or kill a rank."""
    started = begun(nursery, folder, ranks, chance.randint(1, 8), job=job)
    rank = chance.randrange(ranks)
    time.sleep(chance.uniform(0, 0.1))
    told = time.monotonic()
    started.signal(number, [rank])
    what = f"rank {rank} {number.name}"
    trial = ended(nursery, started, folder, what, told=told, but=[rank])
    assert set(trial.codes.values()) == {1}, trial
    assert all(f"rank {rank} (process" in words for words in trial.said), trial
    return trial


def mute_store(nursery, folder, chance, *, ranks):
    """Let the store never answer one of the ranks again."""
    rank, mute = chance.randrange(1, ranks), folder / "mute"
    job = begun(nursery, folder, ranks, 2, job="unanswered", rank=rank, file=str(mute))
    time.sleep(chance.uniform(0, 0.1))
    told = time.monotonic()
    mute.touch()
    trial = ended(nursery, job, folder, f"store does not answer rank {rank}", told=told)
    assert set(trial.codes.values()) == {1}, trial
    for other, words in enumerate(trial.said):
        silent = 0 if other == rank else rank
        assert f"rank {silent} (process {job.pids[silent]}" in words, trial
    return trial
