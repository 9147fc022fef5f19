"""One resolved value: Python, the command, a study and the doctor mean the same job."""

import io
from functools import cache

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from PIL import Image

from counterpoint.cli.commands import options
from counterpoint.cli.parser import make_parser, spelled
from counterpoint.cli.pretrain import asked_job
from counterpoint.data import open_data
from counterpoint.doctor.beginning import Beginning
from counterpoint.doctor.suggestion import first_job
from counterpoint.methods import METHODS, byol_small, method_named, training_of
from counterpoint.parts.encoders import ResNet
from counterpoint.resolve import resolve
from counterpoint.run_options import FLAGS
from counterpoint.study import Images, Trial
from counterpoint.study.trial_job import job_of, opened

COUNT = 5_200  # eight tenths of them, which are trained on, are a batch of BYOL's


@pytest.fixture(scope="module")
def places(cifar, tmp_path_factory):
    """The same images in memory, as files of varying size and as rows of Parquet."""
    folder = tmp_path_factory.mktemp("images")
    images = cifar.train.images[:COUNT].permute(0, 2, 3, 1).numpy()
    np.save(folder / "memory.npy", images)
    encoded = []
    for number, image in enumerate(images):
        file = io.BytesIO()
        Image.fromarray(image[: 32 - number % 5]).save(file, "BMP")
        encoded.append(file.getvalue())
    (folder / "files").mkdir()
    for number, content in enumerate(encoded):
        (folder / "files" / f"{number}.bmp").write_bytes(content)
    rows = arrow.table({"image": [{"bytes": content, "path": None} for content in encoded]})
    parquet.write_table(rows, folder / "rows.parquet")
    return {
        "memory": str(folder / "memory.npy"),
        "files": str(folder / "files"),
        "parquet": str(folder / "rows.parquet"),
    }


def typed(*words):
    """The job of a command, up to where it would train."""
    given = parser().parse_args(spelled(list(map(str, words)))).pretrain
    return asked_job(vars(given))


@cache
def parser():
    return make_parser()


@pytest.mark.parametrize("kind", ["memory", "files", "parquet"])
def test_every_preset_is_one_job_for_everyone(places, kind):
    place, splits = places[kind], open_data(places[kind])
    for name in METHODS:
        python = resolve(name, splits)
        trial = Trial(method=name, data=place, budget=Images(1))
        command = typed("pretrain", place, "--method", name, "--out", "x")
        study = job_of(trial, opened(trial))
        begun = Beginning(name, encoder=None, weights=None, lr=None, seconds=60.0)
        doctor = first_job(begun, splits.train)  # its batch makes a few updates of an epoch
        fitted = resolve(name, splits, changes={"batch": doctor.training.batch})
        by_value = resolve(method_named(name, size=python.image[-1]), splits)
        assert python.source.describe()["kind"] == kind
        assert python.training == training_of(name)
        assert python.origin == f"the recipe of {name}"
        for one, other in (
            (command, python),
            (study, python),
            (by_value, python),
            (doctor, fitted),
        ):
            assert one.record == other.record, name
            assert one.method == other.method
        words = python.command(data=place, out="x")[1:]
        assert typed(*words).record == python.record, words
    assert {job.identity["data"] for job in (python, command, study, doctor)} == {
        python.identity["data"]
    }


def test_what_was_asked_for_is_asked_again_by_its_command(places):
    """Limits, sizes, encoders, settings and methods without a name."""
    place = places["files"]
    some = [
        resolve("moco-small", place, limit=600, size=64, changes={"lr": 1e-3}, steps=7),
        resolve("byol-small", place, encoder="resnet18", changes={"compile": True, "seed": 3}),
        resolve("simclr-small", places["memory"], changes={"accumulate": 2, "batch": 64}, epochs=1),
    ]
    for job in some:
        again = typed(*job.command(data=_place(job, places), out="x")[1:])
        assert again.record == job.record
        assert again.identity == job.identity


def test_an_encoder_keeps_what_belongs_around_it(places, tmp_path):
    """By name, and also where the method is a file or a value."""
    file = tmp_path / "method.json"
    file.write_text(byol_small().to_json())
    wanted = byol_small(ResNet("resnet18"))
    settings = ("--optimiser", "adamw", "--lr", 0.01, "--batch-size", 64, "--epochs", 1)
    given = ("--encoder", "resnet18", "--out", "x", *settings)
    found = typed("pretrain", places["memory"], "--method", file, *given)
    assert found.method.encoder == wanted.encoder
    assert resolve(byol_small(), places["memory"], encoder=ResNet("resnet18")).method == wanted


def test_every_setting_with_a_flag_is_an_option(places):
    assert set(FLAGS.values()) <= options("pretrain").keys()
    assert set(FLAGS) <= set(training_of("simclr").__slots__)
    zero = typed("pretrain", places["memory"], "--weight-decay", 0, "--seed", 0, "--out", "x")
    assert zero.training == training_of("simclr", weight_decay=0.0)


def _place(job, places):
    return places[job.source.describe()["kind"]]
