"""The commands of a run in a store: they say its address, and do what they do on a disk."""

import json
import re

import numpy as np
import pytest
import torch

from counterpoint.cli import main

ADDRESS = "commands/photos"


@pytest.fixture(scope="module")
def images(cifar, tmp_path_factory):
    """A small data set with labels, in a file."""
    file = tmp_path_factory.mktemp("data") / "images.npz"
    source = cifar.train
    labels = source.labels_of(torch.arange(200)).numpy()
    np.savez(file, images=source.images[:200].numpy(), labels=labels)
    return file


def said_by(capsys, *words):
    main([str(word) for word in words])
    return "".join(capsys.readouterr())


def page_of(file):
    """A page without what two runs of a command differ in: the time of day, and seconds taken."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d|[\d.,]+ (s|min|images/s)\b", "", file.read_text())


def test_the_commands_of_a_run(s3, images, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    there, here = s3.address(ADDRESS), tmp_path / "photos"
    few = ("--encoder", "small", "--steps", "4", "--batch-size", "32", "--workers", "0")
    for out in (there, here):
        said = said_by(capsys, "pretrain", images, *few, "--out", out)
        assert f"run in {out}" in said.replace("\n", "")
        assert f"next: counterpoint evaluate {out} --data" in said
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "elsewhere"))
    for run in (there, here):
        words = said_by(capsys, "evaluate", run, "--data", images, "--protocol", "knn,linear")
        assert f"figures in {run}/evaluation.json" in words
    for name in ("evaluation.json", "before.json"):
        assert json.loads(s3.get(f"{ADDRESS}/{name}")) == json.loads((here / name).read_text())
    for run, page in ((there, "there.html"), (here, "here.html")):
        said_by(capsys, "report", run, "--data", images, "--out", page)
    assert page_of(tmp_path / "there.html") == page_of(tmp_path / "here.html")
    monkeypatch.setenv("COUNTERPOINT_RUNS", str(tmp_path / "third"))
    said_by(capsys, "report", there, "--out", "small.html")
    fetched = {file.name for file in (tmp_path / "third").glob("*/copy/photos/*")}
    assert "metrics.csv" in fetched
    assert not {"model.safetensors", "start.safetensors"} & fetched  # no tensor was needed
    said_by(capsys, "embed", there, images, "--out", "vectors", "--copies", "0")
    longer = s3.address("commands/longer")
    said_by(capsys, "pretrain", images, "--method", there, *few[2:], "--out", longer)
    assert json.loads(s3.get("commands/longer/run.json"))["job"]["start"]["steps"] == 4
    weights = f"{there}/encoder.safetensors"
    bare = ("--encoder", "small", "--weights", weights, "--size", "32")
    said_by(
        *(capsys, "evaluate", *bare, "--data", images, "--protocol", "knn"),
        *("--out", s3.address("commands/bare")),
    )
    assert {"run.json", "evaluation.json"} <= {
        key.rpartition("/")[2] for key in s3.keys("commands/bare/")
    }
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
