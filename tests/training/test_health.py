"""The watch: what it writes and says, and that training never notices."""

import io
import json
import math
import re
from dataclasses import replace

import pytest
import torch
from rich.console import Console

from counterpoint import ArraySource, Training, pretrain
from counterpoint.data import image_files
from counterpoint.evaluation.health import Signs
from counterpoint.methods import byol_small, cmc, moco_small, simclr_small
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.callbacks.health_watch import HealthWatch, read_history
from counterpoint.training.optimisers import rate

TINY = NarrowResNet(widths=(8, 16), blocks=(1, 1))
QUICK = Training(epochs=2, batch=16, seed=3, optimiser="adamw", lr=0.01)
METHODS = {
    "simclr": simclr_small(TINY),
    "byol": byol_small(TINY),
    "a queue and shuffled groups": moco_small(TINY).swap(
        encoder=replace(moco_small(TINY).encoder, groups=4)
    ),
    "a bank": cmc(TINY, samples=64),
}


def source(count=64, *, labelled=False):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (count, 3, 32, 32), generator=generator, dtype=torch.uint8)
    return ArraySource("noise", images, torch.arange(count) % 4 if labelled else None)


def trained(method, out, data=None, **settings):
    quiet = Console(file=io.StringIO())
    settings = {"training": QUICK, "console": quiet, **settings}
    return pretrain(method, data or source(), out=out, **settings)


def lines(folder):
    return [json.loads(line) for line in (folder / "health.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", METHODS)
def test_training_never_notices(name, tmp_path):
    """The gate: weights, statistics, queue and bank are the same bit for bit, and so is chance."""
    found = []
    for health in (True, False):
        run = trained(METHODS[name], tmp_path / str(health), health=health)
        found.append((run.model.state_dict(), torch.get_rng_state()))
    (with_it, random), (without, other) = found
    assert len(lines(tmp_path / "True")) == 3
    assert not (tmp_path / "False" / "health.jsonl").exists()
    assert with_it.keys() == without.keys()
    for key in with_it:
        assert torch.equal(with_it[key], without[key]), key
    assert torch.equal(random, other)


def test_what_is_written_and_said(tmp_path, capfd):
    trained(METHODS["byol"], tmp_path)
    start, middle, end = lines(tmp_path)
    assert [(look["epoch"], look["step"]) for look in (start, middle, end)] == [
        (0, 0),
        (1, 4),
        (2, 8),
    ]
    assert start["lr"] is start["gradient_norm"] is start["step_loss"] is None
    for step, look in ((3, middle), (7, end)):  # the rate of the last step, counted from 0
        assert look["lr"] == pytest.approx(QUICK.scaled_lr * rate(step, QUICK, steps=8))
        assert look["gradient_norm"] > 0
        assert 0 < look["step_loss"] < 4
    decays = [look["momentum"] for look in (start, middle, end)]
    assert decays == pytest.approx([0.97, 1 - 0.03 / 2, 1.0])  # rises by a cosine
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("health")]
    assert re.fullmatch(r"health  epoch 0: starting  Rank \d+ of 16, top-1 0\.\d\d", said[0])
    assert [line.split(":")[0] for line in said] == [f"health  epoch {n}" for n in range(3)]
    assert said[2] == f"health  epoch 2: {end['verdict']}  {end['why']}"


def test_looks_are_with_the_same_images_and_views(tmp_path):
    """Without a rate the weights stay, and so does every figure but batch norm's statistics."""
    still = replace(QUICK, lr=1e-30)
    method = simclr_small(TINY)
    trained(method, tmp_path, training=still)
    start, middle, end = lines(tmp_path)
    for key in ("images", "width", "chance", "images_apart", "texture", "views_apart"):
        assert start[key] == middle[key] == end[key]
    assert middle["rankme"] != start["rankme"]  # of batch norm
    first, second = (HealthWatch(source(9000), tmp_path) for _ in range(2))
    assert torch.equal(first.index, second.index)
    assert len(first.index.unique()) == 512


def test_a_run_shorter_than_an_epoch_is_looked_at(tmp_path):
    trained(METHODS["simclr"], tmp_path, steps=3)
    assert [look["step"] for look in lines(tmp_path)] == [0, 3]


def test_labels_are_used_where_there_are_enough(tmp_path):
    labelled = source(3100, labelled=True)
    trained(METHODS["simclr"], tmp_path, labelled, steps=2)
    for look in lines(tmp_path):
        assert 0 <= look["knn"] <= 1
        assert 0 <= look["linear"] <= 1
    trained(METHODS["simclr"], tmp_path / "few", source(2900, labelled=True), steps=2)
    assert all(look["knn"] is None for look in lines(tmp_path / "few"))  # 96 images: too few


def test_files_are_watched(tmp_path, data):
    files = image_files(data / "caltech20").subset("some", torch.arange(0, 480, 10))
    trained(simclr_small(TINY, size=32), tmp_path, files, steps=3, size=32, workers=0)
    looks = lines(tmp_path)
    assert [look["images"] for look in looks] == [48, 48]
    assert looks[0]["views_apart"] > 0.1


def test_a_run_that_goes_on_keeps_its_looks(tmp_path):
    trained(METHODS["simclr"], tmp_path)
    file = tmp_path / "health.jsonl"
    assert [look.step for look in read_history(file, until=4)] == [0, 4]
    assert read_history(file, until=0) == []  # a new run in an old folder
    again = read_history(file, until=8)
    assert [json.loads(json.dumps(look.to_dict())) for look in again] == [
        {key: look[key] for key in look if key not in ("verdict", "why")}
        for look in lines(tmp_path)
    ]
    assert math.isnan(again[0].views_apart) is False
    assert isinstance(again[0], Signs)
