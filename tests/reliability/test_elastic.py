"""A checkpoint of W ranks resumes with another number of ranks: same order, same batches."""

import json
import signal
import time

import pytest

from reliability.runs import losses_of

LAST = 15


def settings(folder, method):
    out, losses = str(folder / "run"), str(folder / "losses")
    return {"method": method, "out": out, "losses": losses, "epochs": 3, "precision": "64-true"}


def go_on(nursery, folder, method, *, ranks, until):
    """Train with some ranks; at a step, end them by a signal to the last."""
    job = nursery.start(ranks, folder / "log", job="train", settings=settings(folder, method))
    while until < LAST and not nursery.wait(job, timeout=0.01):
        if any(record["step"] >= until for record in steps_of(folder)):
            job.signal(signal.SIGTERM, [ranks - 1])
            break
    assert nursery.wait(job, timeout=120)
    assert set(job.codes.values()) <= {0, 143}, (folder / "log.0").read_text()


def steps_of(folder):
    file = folder / "losses.0"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def global_steps(folder, ranks):
    """Mean loss and samples in order, by step, over the ranks that took part in it."""
    every = losses_of(folder, ranks=ranks)
    found = {}
    for step in sorted({step for losses in every for step in losses}):
        parts = [losses[step] for losses in every if step in losses]
        mean = sum(float.fromhex(loss) for loss, _, _ in parts) / len(parts)
        found[step] = (mean, [n for _, _, samples in parts for n in samples])
    return found


@pytest.mark.parametrize("method", ["simclr", "moco", "cmc"])
def test_a_walk_over_world_sizes(nursery, tmp_path, method):
    alone, walk = tmp_path / "alone", tmp_path / "walk"
    for folder in (alone, walk):
        folder.mkdir()
    go_on(nursery, alone, method, ranks=1, until=LAST)
    for ranks, until in ((2, 4), (3, 8), (1, LAST)):
        go_on(nursery, walk, method, ranks=ranks, until=until)
        time.sleep(0.1)
    wanted, found = global_steps(alone, 1), global_steps(walk, 3)
    assert list(found) == list(wanted) == list(range(1, LAST + 1))
    assert [samples for _, samples in found.values()] == [s for _, s in wanted.values()]
    apart = [abs(found[step][0] - wanted[step][0]) for step in wanted]
    assert max(apart) < 1e-9
