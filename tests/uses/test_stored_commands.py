"""The commands of a run in a store: they say its address, and do what they do on a disk."""

import csv
import json
import re

import numpy as np
import pytest
import torch

from counterpoint import Run, Training, open_data, open_encoder, pretrain
from counterpoint.cli import main
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.vectors import Vectors

ADDRESS = "commands/photos"
COSTS = ("seconds", "peak_mb")
METHOD = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=32)


@pytest.fixture(scope="module")
def images(cifar, tmp_path_factory):
    """A small data set with labels, in a file."""
    file = tmp_path_factory.mktemp("data") / "images.npz"
    labels = cifar.train.labels_of(torch.arange(120)).numpy()
    np.savez(file, images=cifar.train.images[:120].numpy(), labels=labels)
    return file


@pytest.fixture
def here(images, tmp_path, monkeypatch):
    """A run on a disk."""
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "photos"
    training = Training(batch=16)
    pretrain(METHOD, open_data(images).train, out=out, training=training, steps=3, health=False)
    return out


def said_by(capsys, *words):
    main([str(word) for word in words])
    return "".join(capsys.readouterr())


def timeless(record):
    """A record without how long it took, and how much memory."""
    if isinstance(record, list):
        return [timeless(one) for one in record]
    if not isinstance(record, dict):
        return record
    return {key: timeless(value) for key, value in record.items() if key not in COSTS}


def page_of(file):
    """A page without what two runs of a command differ in: seconds and memory taken."""
    return re.sub(r"[\d.,]+\s(s|min|images/s|MB)\b", "", file.read_text())


def test_a_run_in_a_store_is_measured_and_shown_as_on_a_disk(s3, here, images, tmp_path, capsys):
    there = s3.put_folder(here, ADDRESS)
    for run in (there, here):
        words = said_by(capsys, "evaluate", run, "--data", images, "--protocol", "knn")
        assert f"figures in {run}/evaluation.json" in words
    for name in ("evaluation.json", "before.json"):
        stored = json.loads(s3.get(f"{ADDRESS}/{name}"))
        assert timeless(stored) == timeless(json.loads((here / name).read_text()))
    for run, page in ((there, "there.html"), (here, "here.html")):
        said_by(capsys, "report", run, "--data", images, "--out", page)
    assert page_of(tmp_path / "there.html") == page_of(tmp_path / "here.html")


def test_what_is_not_needed_is_not_fetched_and_nothing_twice(s3, here, tmp_path, capsys):
    there = s3.put_folder(here, "commands/small")
    for page in ("small.html", "again.html"):
        said_by(capsys, "report", there, "--out", page)
    bodies = s3.counts()["keys"]
    assert not [name for name in bodies if "/checkpoints/" in name]
    for name in ("metrics.csv", "model.safetensors"):
        assert bodies[f"commands/small/{name}"] == len(s3.get(f"commands/small/{name}"))


def test_a_run_in_a_store_trains_on_embeds_and_lends_its_weights(
    s3, here, images, tmp_path, capsys
):
    there = s3.put_folder(here, "commands/first")
    longer = s3.address("commands/longer")
    few = ("--steps", "2", "--batch-size", "16")
    said = said_by(capsys, "pretrain", images, "--method", there, *few, "--out", longer)
    assert f"run in {longer}:" in said.replace("\n", " ")
    assert f"next: counterpoint evaluate {longer} --data {images}" in said
    made = json.loads(s3.get("commands/longer/run.json"))
    assert (made["steps"], made["job"]["start"]["steps"]) == (2, 3)
    said_by(capsys, "embed", there, images, "--out", "vectors", "--copies", "0")
    assert Vectors.open(tmp_path / "vectors").count == 120
    encoder = METHOD.encoder
    ours = open_encoder(encoder=encoder, weights=f"{there}/encoder.safetensors", size=32)
    theirs = open_encoder(encoder=encoder, weights=here, size=32, out=s3.address("commands/bare"))
    some = torch.zeros(2, 3, 32, 32, dtype=torch.uint8)
    assert torch.equal(ours.embed(some), theirs.embed(some))
    kept = Run.open(s3.address("commands/bare"))
    assert torch.equal(kept.embed(some), theirs.embed(some))
    assert not (tmp_path / "s3:").exists()


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("embed", "RUN", ".", "--out", "s3://bucket/vectors"), "only runs are written to a store"),
        (("export", "RUN", "--out", "s3://bucket/e"), "only runs are written to a store"),
        (("report", "RUN", "--out", "s3://bucket/page.html"), "only runs are written to a store"),
        (("evaluate", "s4://bucket/run", "--data", "."), "s4:// is not known to fsspec"),
        (("pretrain", ".", "--out", "memory://run"), "what is in memory:// ends with this command"),
        (("evaluate", "s3://bucket/nothing", "--data", "."), "s3://bucket/nothing holds nothing"),
    ],
)
def test_what_a_store_does_not_take_is_refused_in_one_line(s3, words, refusal, capsys, tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(SystemExit) as end:
        main([str(tmp_path) if word == "RUN" else word for word in words])
    said = str(end.value.code) + capsys.readouterr().err
    assert refusal in said
    assert "Traceback" not in said


def test_a_run_in_a_store_is_exported_as_on_a_disk(s3, here, tmp_path, capsys):
    there = s3.put_folder(here, "commands/exported")
    for run, out in ((there, "there"), (here, "here")):
        said_by(capsys, "export", run, "--out", out, "--only", "counterpoint")
    made = {file.name for file in (tmp_path / "here").iterdir()}
    assert {file.name for file in (tmp_path / "there").iterdir()} == made
    weights = "model.safetensors"
    assert (tmp_path / "there" / weights).read_bytes() == (tmp_path / "here" / weights).read_bytes()


def test_a_run_resumes_from_a_checkpoint_of_a_store(s3, here, images, tmp_path):
    data, settings = open_data(images).train, {"training": Training(batch=16), "health": False}
    first = tmp_path / "first"
    pretrain(METHOD, data, out=first, steps=3, save_seconds=0, **settings)
    there = s3.put_folder(
        first / "checkpoints" / "step-00000002", "commands/checkpoints/step-00000002"
    )
    pretrain(METHOD, data, out=tmp_path / "again", steps=3, resume=there, **settings)
    with (tmp_path / "again" / "metrics.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 1  # the third step alone was taken
    weights = [(tmp_path / run / "model.safetensors").read_bytes() for run in ("first", "again")]
    assert weights[0] == weights[1]
