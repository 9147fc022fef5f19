"""A loss that is not a number on one rank stops all of them before the update."""

import json

import pytest

from counterpoint.training.checkpoints import Checkpoints
from reliability.runs import losses_of


def folder_in(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    return folder


def settings(folder):
    return {"method": "byol", "out": str(folder / "run"), "losses": str(folder / "losses")}


@pytest.mark.parametrize(("rank", "step"), [(0, 1), (1, 4)])
def test_all_ranks_stop_before_the_update(nursery, tmp_path, rank, step):
    quiet, broken = folder_in(tmp_path, "quiet"), folder_in(tmp_path, "broken")
    job = nursery.start(2, quiet / "log", job="train", settings=settings(quiet))
    assert nursery.wait(job, timeout=120)
    poison = {"rank": rank, "step": step, **settings(broken)}
    job = nursery.start(2, broken / "log", job="poisoned", settings=poison)
    assert nursery.wait(job, timeout=60), "hangs"
    assert job.codes == {0: 1, 1: 1}
    said = [(broken / f"log.{r}").read_text() for r in (0, 1)]
    wanted = f"the loss on rank {rank} is not finite at step {step - 1}; no weight was changed"
    assert all(wanted in words for words in said), said
    assert not (broken / "run" / f"nonfinite-rank-{1 - rank}.json").exists()
    record = json.loads((broken / "run" / f"nonfinite-rank-{rank}.json").read_text())
    _, _, samples = losses_of(quiet, ranks=2)[rank][step]
    assert record["samples"] == samples
    saved = Checkpoints(broken / "run" / "checkpoints").newest()
    assert (saved and saved.name) == (f"step-{step - 1:08d}" if step > 1 else None)
