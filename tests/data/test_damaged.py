"""Broken files among labelled photos: opened, split, read and counted."""

import json
from collections import Counter

import pytest

from counterpoint.data import Batches, open_data
from counterpoint.data.order import Order
from counterpoint.data.quarantine import KINDS
from counterpoint.doctor import examined
from counterpoint.framework.settings import Training
from counterpoint.parts.views import pipelines
from counterpoint.pretraining import pretrain
from damaged import damaged


@pytest.fixture(scope="module")
def made(data, tmp_path_factory):
    return damaged(data / "caltech20", tmp_path_factory.mktemp("damaged") / "photos")


def test_two_in_a_hundred_of_4000(made):
    assert Counter(made.broken.values()) == {"truncated": 27, "empty": 27, "not an image": 26}
    splits = open_data(made.place)
    parts = [splits.train, splits.validation, splits.test]
    assert [len(part) for part in parts] == [3200, 400, 400]
    paths = {path.relative_to(made.place).as_posix() for part in parts for path in part.paths}
    assert len(paths) == 4000
    assert made.broken.keys() <= paths


def test_exactly_the_broken_files_are_set_aside(made):
    """Every 50th file is broken: of the 400 test images a few, by name and by kind."""
    part = open_data(made.place).test
    views = pipelines.simclr_views(32).build((3, 32, 32))
    batches = Batches(part, 100, 0, cut=views.cut)
    bad = {int(sample): KINDS[kind] for batch in batches for sample, kind in batch.bad.tolist()}
    found = {part.paths[s].relative_to(made.place).as_posix(): kind for s, kind in bad.items()}
    there = {path.relative_to(made.place).as_posix() for path in part.paths}
    assert found == {name: kind for name, kind in made.broken.items() if name in there}
    assert len(found) >= 3


def test_training_finishes_and_lists_what_it_could_not_read(made, tmp_path, capsys):
    splits, training = open_data(made.place), Training(batch=128, epochs=1)
    pretrain(
        "simclr-small",
        splits,
        out=tmp_path / "run",
        size=32,
        steps=3,
        training=training,
        health=False,
    )
    lines = (tmp_path / "run/quarantine.jsonl").read_text().splitlines()
    listed = [json.loads(line) for line in lines]
    found = {one["path"].removeprefix(f"{made.place}/"): one["kind"] for one in listed}
    assert found.items() <= made.broken.items()
    order = Order(len(splits.train), 128, training.seed)
    seen = [int(n) for share, _ in zip(order.shares(), range(3), strict=False) for n in share]
    names = {splits.train.paths[n].relative_to(made.place).as_posix() for n in seen}
    assert names & made.broken.keys() <= found.keys()
    assert len(found) >= 3
    assert f"data    {len(found)} images cannot be read" in capsys.readouterr().err


def test_the_doctor_names_each_of_them(data, tmp_path):
    some = damaged(data / "caltech20", tmp_path / "photos", count=300)
    seen = examined(open_data(some.place), some.place)
    assert dict(seen.broken) == some.broken
    assert len(seen.sound) == 300 - len(some.broken) == 294
