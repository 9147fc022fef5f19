"""Whatever works on a folder of photos works on its shards, and gives the same figures."""

import shutil
from pathlib import Path

import pytest
import torch

from counterpoint import NarrowResNet, Run, Training, pretrain, simclr
from counterpoint.cli import main
from counterpoint.data import open_data
from counterpoint.doctor import examined
from counterpoint.sharding import ShardingJob
from counterpoint.vectors import embed_data

RUNS = Path(__file__).parent.parent / "golden" / "runs"
CLASSES = ("butterfly", "dolphin", "watch")


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    """A hundred and twenty photos of three classes."""
    place = tmp_path_factory.mktemp("data") / "photos"
    for name in CLASSES:
        (place / name).mkdir(parents=True)
        for file in sorted((data / "caltech20" / name).iterdir())[:40]:
            shutil.copy(file, place / name)
    return place


@pytest.fixture(scope="module")
def shards(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("shards") / "out"
    job = ShardingJob.begin(str(folder), out, images=16)
    with job.alone():
        job.write(job.left(), workers=0)
        job.finish()
    return out


@pytest.fixture
def run(tmp_path):
    """A trained run, in a folder of its own: results are kept in it."""
    shutil.copytree(RUNS / "simclr-files", tmp_path / "golden")
    return Run.open(tmp_path / "golden")


def by_path(vectors):
    """Split, label and vector of each image."""
    found = zip(vectors.splits, vectors.labels.tolist(), vectors.matrix(), strict=True)
    return dict(zip(vectors.paths, found, strict=True))


def test_vectors_are_those_of_the_folder_and_can_be_searched(run, folder, shards, tmp_path, capsys):
    a = embed_data(run, folder, tmp_path / "a", workers=0, copies=0)
    b = embed_data(run, shards, tmp_path / "b", workers=0, copies=0)
    ours, theirs = by_path(a), by_path(b)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 120
    for path, (split, label, vector) in ours.items():
        assert theirs[path][:2] == (split, label)
        torch.testing.assert_close(theirs[path][2], vector, rtol=0, atol=1e-5)
    photo = folder / "watch" / "image_0003.jpg"
    main(["search", str(tmp_path / "b"), str(photo), "--out", str(tmp_path / "gallery.html")])
    assert (tmp_path / "gallery.html").read_text().count("<img") > 5


def test_probes_give_the_figures_of_the_folder(run, folder, shards):
    a = run.evaluate(folder, probes=("knn",), workers=0).probe("knn")
    b = run.evaluate(shards, probes=("knn",), workers=0).probe("knn")
    assert (a.test, a.validation) == (b.test, b.validation)


def test_doctor_finds_what_it_finds_in_the_folder(folder, shards):
    looks = []
    for place in (folder, shards):
        seen = examined(open_data(place), place)
        looks.append({(f.split, f.name, f.look.digest, f.look.likeness) for f in seen.images})
        assert (len(seen.copies), len(seen.sound)) == (0, 120)
    assert looks[0] == looks[1]


def test_training_evaluation_views_and_the_report_take_shards(shards, tmp_path):
    method = simclr(NarrowResNet(widths=(4, 4, 4)), size=16)
    training = Training(batch=16, epochs=2)
    out = tmp_path / "run"
    runs = [
        pretrain(method, shards, out=out / f"{workers}", training=training, workers=workers)
        for workers in (0, 2)
    ]
    losses = [(run.folder / "metrics.csv").read_text() for run in runs]
    weights = [torch.cat([p.flatten() for p in run.model.parameters()]) for run in runs]
    assert losses
    assert torch.equal(*weights), "workers change nothing"
    assert "knn" in (runs[0].folder / "health.jsonl").read_text()
    main(["evaluate", str(runs[0].folder), "--data", str(shards), "--protocol", "knn"])
    main(["report", str(runs[0].folder), "--data", str(shards), "--out", str(tmp_path / "r.html")])
    main(["views", str(shards), "--out", str(tmp_path / "views.png")])
    assert (tmp_path / "r.html").read_text().count("<img") > 3
    assert (tmp_path / "views.png").stat().st_size > 10_000
