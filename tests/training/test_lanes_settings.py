"""Lanes as a setting: chosen once, part of what a run is, said at its start."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from counterpoint import Training, pretrain
from counterpoint.cli.parser import make_parser, spelled
from counterpoint.cli.pretrain import asked_job
from counterpoint.data import open_data
from counterpoint.job_record import JobRecord, read_training
from counterpoint.methods import training_of
from counterpoint.resolve import resolve
from shard_folders import make_shards, png
from toy import tiny_method

TRAINING = Training(epochs=1, batch=24, optimiser="sgd", lr=0.01)


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    return make_shards(tmp_path_factory.mktemp("shards"), (9, 5, 7, 8, 8, 8, 6, 9, 4, 9))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    for number in range(40):
        (place / f"{number}.png").write_bytes(png(number))
    return place


def test_lanes_are_chosen_from_the_batch_and_the_shards(shards):
    job = resolve(tiny_method(), shards, training=TRAINING)
    assert (job.training.lanes, job.training.block_shards) == (8, 1)
    assert job.identity["training"]["lanes"] == 8
    assert job.origin == "given"
    # Parts of a batch are what lanes fill.
    parts = resolve(tiny_method(), shards, training=TRAINING, changes={"accumulate": 2})
    assert parts.training.lanes == 4
    asked = {"lanes": 3, "block_shards": 2}
    given = resolve(tiny_method(), shards, training=TRAINING, changes=asked)
    assert (given.training.lanes, given.training.block_shards) == (3, 2)
    assert resolve("simclr-small", shards, changes={"batch": 16}).training.lanes == 8


def test_data_without_shards_has_none(folder):
    job = resolve(tiny_method(), folder, training=TRAINING)
    assert job.training == TRAINING
    assert resolve(tiny_method(), folder, training=TRAINING, changes={"lanes": 1}).training == (
        TRAINING
    )
    with pytest.raises(ValueError, match=r"lanes is 2, and .* has no shards; leave --lanes out"):
        resolve(tiny_method(), folder, training=TRAINING, changes={"lanes": 2})


def test_lanes_that_do_not_divide_the_batch_are_refused_before_the_data_is_opened(tmp_path):
    with pytest.raises(ValueError, match="lanes is 7, which does not divide the 24 images"):
        Training(batch=24, lanes=7)
    with pytest.raises(ValueError, match="lanes is 24, which does not divide the 12 images"):
        Training(batch=24, accumulate=2, lanes=24)
    with pytest.raises(ValueError, match="lanes is 3"):
        resolve("simclr-small", tmp_path / "nowhere", changes={"lanes": 3})


def test_records_and_commands_have_them_and_old_records_do_not_need_them(shards):
    words = ["pretrain", str(shards), "--method", "simclr-small", "--batch-size", "16"]
    words += ["--lanes", "4", "--block-shards", "2", "--out", "x"]
    job = asked_job(vars(make_parser().parse_args(spelled(words)).pretrain))
    assert (job.training.lanes, job.training.block_shards) == (4, 2)
    again = job.command(data=str(shards), out="x")
    assert again[again.index("--lanes") + 1] == "4"
    assert again[again.index("--block-shards") + 1] == "2"
    assert JobRecord.from_dict(job.record.to_dict()) == job.record
    old = {k: v for k, v in job.record.to_dict()["training"].items() if "lane" not in k}
    del old["block_shards"]
    assert read_training(old).lanes is None


def test_a_run_for_longer_on_other_data_chooses_anew(shards, folder, tmp_path):
    quiet = {"health": False, "accelerator": "cpu", "console": Console(file=io.StringIO())}
    run = pretrain(tiny_method(), shards, out=tmp_path / "run", training=TRAINING, steps=1, **quiet)
    assert run.training.lanes == 8
    assert resolve(run, folder).training.lanes is None
    assert resolve(run, open_data(shards).train, changes={"batch": 6}).training.lanes == 2


def test_more_processes_than_lanes_are_refused_before_training(shards, tmp_path):
    training = replace(TRAINING, lanes=2)
    with pytest.raises(ValueError, match="2 lanes for 3 processes; needs one or more for each"):
        pretrain(
            tiny_method(),
            shards,
            out=tmp_path / "run",
            training=training,
            accelerator="cpu",
            devices=3,
        )
    assert not list((tmp_path / "run").glob("checkpoints/*"))


def test_the_table_at_the_start_says_how_shards_are_mixed(shards, tmp_path):
    said = io.StringIO()
    pretrain(
        tiny_method(),
        shards,
        out=tmp_path / "run",
        training=TRAINING,
        steps=1,
        health=False,
        accelerator="cpu",
        console=Console(file=said, width=200),
    )
    found = re.search(
        r"10, mixed when written, in 8 lanes, 1 of each mixed: of the.*", said.getvalue()
    )
    assert found is not None
    assert "and 2.1 would by chance" in found.group()  # 23 x 488 / (73 x 72)


def test_recipes_do_not_name_lanes():
    assert training_of("simclr").lanes is None
