"""Photos of which some are broken: left out of every score, counted, and never replaced."""

import json

import pytest
import torch

from counterpoint import NarrowResNet, Run, pretrain, simclr
from counterpoint.data import ArraySource, open_data
from counterpoint.evaluation import Representation, evaluate
from counterpoint.evaluation.health import probed
from counterpoint.framework.settings import Training
from counterpoint.report.write import write_report
from damaged import damaged

METHOD = simclr(NarrowResNet(widths=(8, 8), blocks=(1, 1)), size=32)


@pytest.fixture(scope="module")
def few(data, tmp_path_factory):
    return damaged(data / "caltech20", tmp_path_factory.mktemp("few") / "photos", count=400)


@pytest.fixture
def representation():
    torch.manual_seed(0)
    return Representation(METHOD.build(image=(3, 32, 32)))


def broken(made, source):
    names = [path.relative_to(made.place).as_posix() for path in source.paths]
    return [number for number, name in enumerate(names) if name in made.broken]


def test_exactly_the_broken_files_have_no_vector(few, representation):
    """With workers or without: the others have the vectors that they have alone."""
    source = open_data(few.place).train
    bad = broken(few, source)
    assert len(bad) > 3
    vectors = representation(source, workers=0)
    torch.testing.assert_close(representation(source, workers=2), vectors, equal_nan=True)
    assert vectors.isnan().any(dim=1).nonzero().flatten().tolist() == bad
    found = representation.readable(source, workers=0)
    assert len(found.index) == len(source) - len(bad)
    torch.testing.assert_close(found.vectors, vectors[found.index])
    some = torch.tensor([n for n in (bad[0] - 1, bad[0] + 1) if n not in bad])
    alone = representation(source.subset("two", some))
    torch.testing.assert_close(alone, vectors[some], atol=1e-6, rtol=1e-5)


def test_known_bad_samples_are_not_read(few, representation):
    source = open_data(few.place).train
    vectors = representation(source.marked([0]), workers=0)
    assert vectors[0].isnan().all()


def test_images_in_memory_that_stand_in_for_others_are_left_out(representation):
    images = torch.randint(256, (30, 3, 32, 32), dtype=torch.uint8)
    source = ArraySource("some", images, torch.arange(30) % 3, bad={4: "empty"})
    found = representation.readable(source)
    assert found.index.tolist() == [n for n in range(30) if n != 4]
    torch.testing.assert_close(found.vectors, representation(images)[found.index])


def test_nothing_readable_is_said(tmp_path, representation):
    for name in range(12):
        file = tmp_path / "a" / f"{name}.jpg"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"text")
    with pytest.raises(ValueError, match=r"none of .* images can be read; counterpoint doctor"):
        representation(open_data(tmp_path).train)


def test_an_evaluation_counts_what_it_leaves_out(few, representation):
    splits = open_data(few.place)
    result = evaluate(representation, splits, probes=("knn", "linear"), workers=0)
    expected = {name: len(broken(few, getattr(splits, name))) for name in result.left_out}
    assert result.left_out == expected
    assert sum(expected.values()) == len(few.broken)
    scored = len(splits.test) - expected["test"]
    assert sum(map(sum, result.probe("knn").confusion)) == scored


@pytest.mark.full
def test_two_in_a_hundred_of_4000_photos(data, tmp_path):
    """Training, its looks, an evaluation and a report all finish, with counts."""
    made = damaged(data / "caltech20", tmp_path / "photos")
    run = tmp_path / "run"
    splits = open_data(made.place)
    training = Training(epochs=1, batch=64)
    pretrain(METHOD, splits, out=run, size=32, training=training, workers=2)
    looks = [json.loads(line) for line in (run / "health.jsonl").read_text().splitlines()]
    assert len(looks) == 2
    assert all(look["knn"] is not None for look in looks)
    aside = [json.loads(line) for line in (run / "quarantine.jsonl").read_text().splitlines()]
    assert {broken["path"].removeprefix(f"{made.place}/") for broken in aside} <= set(made.broken)
    result = Run.open(run).evaluate(splits, probes=("knn", "linear"))
    assert sum(result.left_out.values()) == 80
    kept = json.loads((run / "evaluation.json").read_text())
    assert kept["steps"] == json.loads((run / "run.json").read_text())["steps"] > 0
    assert kept["left_out"] == dict(result.left_out)
    page = write_report([run], tmp_path / "report.html", data=splits, images=50)
    assert page.stat().st_size > 10_000


def test_a_look_leaves_out_what_cannot_be_read(data, tmp_path, representation):
    """3,000 files, of which 100 are embedded: one broken among them does not stop a run."""
    made = damaged(data / "caltech20", tmp_path / "photos", count=3_200, share=0.05)
    source = open_data(made.place).train
    bad = broken(made, source)
    good = [n for n in range(len(source)) if n not in set(bad)]
    order = torch.tensor([*bad[:2], *good[:150]])
    count = len(source) // 30
    alike = torch.tensor(good)
    found = probed(representation.model, source.subset("all", torch.arange(len(source))), order)
    assert set(found) == {"knn", "linear"} or count < 102
    assert probed(representation.model, source, alike).keys() == found.keys()
