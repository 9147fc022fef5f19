"""What a run started from is made again to the bit, measured, and shown beside its figures."""

import json

import pytest
import torch
from safetensors.torch import load_file

from counterpoint import ArraySource, NarrowResNet, Run, Splits, Training, byol_small, pretrain
from counterpoint.cli import main
from counterpoint.evaluation.scores import difference_interval
from counterpoint.framework.optional import backbone_of, trained
from counterpoint.pretraining import built_model
from counterpoint.report import write_report
from counterpoint.resolve import resolve
from counterpoint.run_start import accuracies, measure_start, starting_model

SMALL = NarrowResNet(widths=(4, 8), blocks=(1, 1))
TRAINING = Training(optimiser="adamw", lr=1.0, batch=8, epochs=1, seed=3)


@pytest.fixture(scope="module")
def splits():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) % 3
    noise = torch.randint(120, (60, 3, 16, 16), dtype=torch.uint8, generator=generator)
    images = noise + (labels * 60).to(torch.uint8)[:, None, None, None]
    parts = [slice(0, 30), slice(30, 40), slice(40, 60)]
    names = ("train", "validation", "test")
    return Splits(
        *(ArraySource(n, images[p], labels[p]) for n, p in zip(names, parts, strict=True))
    )


@pytest.fixture(scope="module")
def run(splits, tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    method = byol_small(SMALL, size=16)
    return pretrain(method, splits.train, out=out, steps=2, training=TRAINING, health=False)


def weights(model):
    return backbone_of(trained(model.encoder)).state_dict()


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def test_a_random_start_is_drawn_again_and_not_kept(run, splits):
    job = resolve(run.method, splits.train, steps=2, training=TRAINING)
    opened = Run.open(run.folder)
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    found = weights(starting_model(opened))
    assert torch.equal(torch.rand(3), expected)  # nobody else's numbers are touched
    assert same(found, weights(built_model(job)))
    assert not same(found, weights(run.model))
    assert not (run.folder / "start.safetensors").exists()


def test_given_weights_are_kept(run, splits, tmp_path):
    again = pretrain(
        run.method,
        splits.train,
        out=tmp_path,
        steps=2,
        training=TRAINING,
        weights=run,
        health=False,
    )
    assert same(load_file(tmp_path / "start.safetensors"), weights(run.model))
    assert same(weights(starting_model(again)), weights(run.model))
    assert not same(weights(again.model), weights(run.model))


def test_the_start_is_measured_once(run, splits):
    how = {"probes": ("knn", "linear", "finetune")}
    record = measure_start(run, splits, **how)
    assert {name for name, _ in accuracies(record)} == {"knn", "linear"}
    file = run.folder / "before.json"
    written = file.stat().st_mtime_ns
    assert measure_start(run, splits, **how) == json.loads(file.read_text())
    assert file.stat().st_mtime_ns == written
    measure_start(run, splits, probes=("knn",))
    assert file.stat().st_mtime_ns != written


def test_the_report_compares_with_the_start(run, splits, tmp_path):
    result = run.evaluate(splits, probes=("knn",))
    record = measure_start(run, splits, probes=("knn",))
    page = write_report([run.folder], tmp_path / "page.html").read_text().replace("\u202f", " ")
    before, after = accuracies(record)["knn", 1.0], result.probe("knn").test
    assert f"Random weights reach {100 * before:.1f}" in page
    assert "points" in page
    assert "before training" in page
    assert "guessing the commonest" not in page
    assert f"{100 * after:.1f}" in page


def test_a_start_that_is_not_known_is_said(run, splits, tmp_path):
    for name in ("method.json", "model.safetensors"):
        (tmp_path / name).write_bytes((run.folder / name).read_bytes())
    record = json.loads((run.folder / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(record | {"start": None}))
    with pytest.raises(ValueError, match="what it started from is not known"):
        measure_start(Run.open(tmp_path), splits)
    (tmp_path / "run.json").write_text(json.dumps(record | {"start": "0" * 16}))
    with pytest.raises(ValueError, match="draws other weights here"):
        starting_model(Run.open(tmp_path))


def test_the_command_shows_both(cifar, data, tmp_path, capsys):
    place = str(data / "cifar10")
    given = ["--limit", "60", "--method", "simclr-small", "--steps", "1", "--batch-size", "8"]
    main(["pretrain", place, *given, "--out", str(tmp_path)])
    main(["evaluate", str(tmp_path), "--data", place, "--limit", "60", "--protocol", "knn"])
    said = capsys.readouterr().out
    assert "start" in said
    start = json.loads((tmp_path / "before.json").read_text())["probes"][0]["test"]
    assert f"{start:.4f}" in said


def test_a_difference_is_drawn_over_images_together():
    """Loops over the same draws, as the reference."""
    generator = torch.Generator().manual_seed(1)
    after = torch.rand(2, 9, generator=generator) < 0.8
    before = torch.rand(1, 9, generator=generator) < 0.6
    drawing = torch.Generator().manual_seed(0)
    means = []
    for _ in range(2_000):
        chosen = torch.randint(9, (9,), generator=drawing).tolist()
        gains = [after[:, n].double().mean() - before[0, n].double() for n in chosen]
        means.append(float(sum(gains)) / 9)
    ends = torch.tensor(means, dtype=torch.float64).quantile(
        torch.tensor([0.025, 0.975], dtype=torch.float64)
    )
    assert torch.allclose(torch.tensor(difference_interval(after, before)).double(), ends)
