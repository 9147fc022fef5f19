"""Verdicts on real models: before training where that is enough, after a few steps elsewhere."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from counterpoint import Cosine, Dot, NarrowResNet, Training, pretrain
from counterpoint.data import ArraySource, as_source
from counterpoint.evaluation.health import Signs, take_look, verdict
from counterpoint.methods import METHODS, SEVEN, byol_small, simclr_small
from counterpoint.parts.views import Normalise, Pipeline

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TINY = NarrowResNet(widths=(16, 32, 64))
LOOK = torch.arange(256)


def looks(method, images, tmp_path=None, steps=0, lr=3e-3):
    """The signs before and after some steps of training."""
    torch.manual_seed(0)
    found = [take_look(method.build(image=(3, 32, 32)), as_source(images), LOOK)]
    if steps:
        training = Training(optimiser="adamw", lr=lr, batch=128, weight_decay=0.05)
        run = pretrain(
            method, ArraySource("s", images), out=tmp_path, steps=steps, training=training
        )
        found.append(replace(take_look(run.model, as_source(images), LOOK), step=steps))
    return found


@pytest.fixture(scope="module")
def images(cifar):
    return cifar.train.images[:2048]


def test_nothing_is_wrong_before_training(images):
    assert verdict(looks(simclr_small(TINY), images)).word == "starting"


def test_constant_images_are_called(images):
    flat = images[:1].expand(256, -1, -1, -1)
    assert verdict(looks(simclr_small(TINY), flat)).why.startswith("All images look the same")
    colours = images[:, :, :1, :1].expand(-1, -1, 32, 32)
    assert "flat colour" in verdict(looks(simclr_small(TINY), colours)).why


def test_identical_views_are_called(images):
    same = simclr_small(TINY).swap(views=Pipeline((Normalise((0.5,) * 3, (0.25,) * 3),)))
    found = verdict(looks(same, images))
    assert found.word == "trivial"
    assert "part (1)" in found.why


def test_a_low_temperature_is_called(images):
    sharp = simclr_small(TINY).swap(similarity=Cosine(tau=0.001))
    assert "raise tau" in verdict(looks(sharp, images)).why


def test_byol_without_a_predictor_is_called_and_with_one_is_not(images, tmp_path):
    bare = byol_small(TINY).swap(similarity=Cosine(tau=1.0))
    bare = bare.swap(encoder=replace(bare.encoder, decay=0.0, rises=False))
    assert verdict(looks(bare, images, tmp_path / "bare", steps=48)).word == "collapsing"
    assert verdict(looks(byol_small(TINY), images, tmp_path / "whole", steps=48)).word == "healthy"


def test_a_figure_that_is_not_finite_is_called(images):
    (start,) = looks(simclr_small(TINY), images)
    assert verdict([start, replace(start, loss=float("nan"))]).word == "broken"


RECORDED = json.loads((RESULTS / "collapse.json").read_text())["runs"]
FINE = {"starting", "healthy", "slow"}


@pytest.mark.parametrize("run", RECORDED, ids=lambda run: run["name"])
def test_recorded_runs_are_judged_rightly(run):
    """Every method, also with a plain dot product, and every way to fail: signs of real runs.

    `scripts/bench collapse` records them. A method is called nothing bad at any look.
    """
    looks = [Signs.from_dict(look) for look in run["looks"]]
    words = [verdict(looks[: place + 1]).word for place in range(len(looks))]
    assert words == [look["verdict"] for look in run["looks"]], "the record is out of date"
    if set(run["right"]) == {"healthy", "slow"}:
        assert set(words) <= FINE
    elif run["right"]:
        assert set(words[1:]) & set(run["right"])


def test_every_method_of_the_paper_was_recorded():
    """By name, and with a dot product unless its loss needs a bound, as BYOL's does."""
    names = {run["name"] for run in RECORDED}
    paper = {name for name in METHODS if name.partition("-")[0] in SEVEN}
    assert names >= paper
    dots = {name for name in paper if f"{name}, dot product" not in names}
    assert dots == {n for n in paper if isinstance(METHODS[n]().similarity, Dot) or "byol" in n}


def test_advice_is_about_the_part_that_is_there():
    """A dot product has no tau: nobody is told to raise it."""
    said = {
        run["name"]: [look["why"] for look in run["looks"] if not look["bounded"]]
        for run in RECORDED
    }
    assert not [name for name, lines in said.items() if any("tau" in line for line in lines)]
    assert any("scale them in part (4)" in line for line in said["yadim"])


RUNS = {  # first and last look of runs of two epochs of 4,096 images; the recipes of the docs
    "simclr": ("healthy", (11.4, 20.7, 0.301, 0.976), (28.2, 52.2, 0.893, 0.825)),
    "byol": ("healthy", (11.7, 4.39, 0.0857, 1.0), (24.0, 13.6, 0.414, 0.982)),
    "cmc": ("healthy", (11.1, 3.78, 0.174, 1.0), (45.8, 19.2, 0.498, 0.946)),
    "yadim": ("healthy", (4.4, 5.24, 0.208, 0.999), (8.63, 9.78, 0.533, 0.981)),
    "cpc": ("healthy", (11.4, 20.8, 0.349, 1.0), (19.7, 17.0, 0.627, 0.928)),
    "ten times the rate": ("healthy", (11.4, 20.7, 0.301, 0.976), (23.6, 15.8, 0.887, 0.809)),
    "a hundred times": ("collapsing", (11.4, 20.7, 0.301, 0.976), (11.6, 8.12, 0.782, 0.853)),
    "a thousand times": ("collapsing", (11.4, 20.7, 0.301, 0.976), (7.05, 7.12, 0.722, 0.865)),
    "no predictor": ("collapsing", (11.7, 14.5, 0.243, 0.997), (23.7, 13.3, 0.088, 0.999)),
}


@pytest.mark.parametrize("name", RUNS)
def test_longer_runs_that_were_measured(name, images):
    word, *ends = RUNS[name]
    (look,) = looks(simclr_small(TINY), images)
    keys = ("rankme", "compared_rank", "compared_deviation", "surprise")
    history = [
        replace(look, step=step, **dict(zip(keys, end, strict=True)))
        for step, end in zip((0, 128), ends, strict=True)
    ]
    assert isinstance(history[0], Signs)
    assert verdict(history).word == word
