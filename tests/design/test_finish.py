"""What a search leaves for people: a page, a method that can be executed, and its own command."""

import runpy
import shlex

import numpy as np
import pytest

from counterpoint.cli.commands import options
from counterpoint.design.again import design_again
from counterpoint.design.design_settings import epoch_flops, image_facts
from counterpoint.design.evolution import ranked
from counterpoint.design.finish import finish_design, full_epochs
from design.searches import searched, written


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    file = tmp_path_factory.mktemp("images") / "photos.npy"
    np.save(file, np.zeros((240, 32, 32, 3), dtype=np.uint8))
    return str(file)


@pytest.fixture(scope="module")
def found(photos):
    return searched(rounds=1, size=24, data=photos, full=2.4e11, watch=("knn",), seed=3, batch=32)


def test_the_files_are_those_of_the_best(found, tmp_path):
    out = written(found, tmp_path / "design")
    report = finish_design(out)
    assert report == out / "report.html"
    best = ranked(found.judged())[0].candidate
    made = runpy.run_path(str(out / "method.py"))
    assert made["METHOD"] == best.method
    assert best.settings == made["TRAINING"]
    assert "counterpoint design" in report.read_text()
    assert str(tmp_path) not in report.read_text().replace(found.settings.data, "")


def test_the_command_has_the_settings_that_are_not_usual(found):
    words = shlex.split(design_again(found, epochs=full_epochs(found), out="design"))
    assert words[:3] == ["counterpoint", "design", found.settings.data]
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert set(given) <= {one.flag for one in options("design").values()}
    assert (given["--watch"], given["--seed"], given["--batch-size"]) == ("knn", "3", "32")
    assert "--strategy" not in given
    settings = found.settings
    epoch = epoch_flops(image_facts(settings.data), settings.encoder, settings.batch)
    again = float(f"{epoch * float(given['--full-epochs']):.1e}")  # as the command reads it
    assert again == settings.full
    assert int(given["--rounds"]) == len(found.rounds)
    assert float(given["--hours"]) == pytest.approx(2 * found.core_hours, rel=0.01)
