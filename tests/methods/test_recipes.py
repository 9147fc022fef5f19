"""Every method trains by its recipe, by its name and as a value, from Python and the command."""

import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console

from counterpoint import ArraySource, Training, pretrain
from counterpoint.cli import main
from counterpoint.methods import (
    METHODS,
    ORIGINS,
    RECIPES,
    SEVEN,
    Origin,
    method_named,
    recipe_of,
    training_of,
)
from counterpoint.methods.recognising import recipe_words
from counterpoint.parts.encoders import NarrowResNet, ResNet
from counterpoint.parts.extraction import Bank, Compare
from counterpoint.parts.losses import NCE, Triplet
from counterpoint.parts.similarity import Bilinear
from counterpoint.run import Run
from toy import tiny_method

TINY = NarrowResNet(widths=(4, 8), blocks=(1, 1))


def noise(count=16, side=32):
    generator = torch.Generator().manual_seed(0)
    shape = (count, 3, side, side)
    return ArraySource("noise", torch.randint(256, shape, generator=generator, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("name", "side"), [*((name, 32) for name in METHODS), *((name, 128) for name in SEVEN)]
)
def test_every_recipe_is_recognised_at_every_size(name, side):
    method = METHODS[name](size=side)
    assert recipe_of(method) == name
    assert training_of(method) == RECIPES[name].training
    assert recipe_words(method, RECIPES[name].training) == name


@pytest.mark.parametrize("name", SEVEN)
def test_a_method_with_another_encoder_keeps_its_recipe(name):
    method = METHODS[name](TINY, size=32)
    assert training_of(method) == RECIPES[name].training
    assert "with another encoder" in recipe_words(method, RECIPES[name].training)


@pytest.mark.parametrize("name", ["simclr", "moco", "byol", "cmc"])
def test_the_default_encoder_has_the_stem_of_its_images(name):
    assert "stem='small'" in str(METHODS[name](size=32).encoder)
    assert "stem='imagenet'" in str(METHODS[name](size=224).encoder)


def test_simclr_has_a_resnet_18_for_cifar_10_and_a_resnet_50_above():
    names = [METHODS["simclr"](size=side).encoder.name for side in (32, 64, 224)]
    assert names == ["resnet18", "resnet50", "resnet50"]


def test_a_bank_of_any_size_is_cmc():
    method = method_named("cmc", size=32)
    assert recipe_of(method.swap(extraction=Bank(samples=7))) == "cmc"


def test_swaps_keep_the_recipe_and_a_method_of_ones_own_has_none():
    amdim = METHODS["amdim"](ResNet("resnet18")).swap(extraction=Compare.parse("(-1:-1)"))
    assert recipe_of(amdim) == "amdim"
    own = tiny_method(similarity=Bilinear(), loss=Triplet())
    assert recipe_of(own) is None
    with pytest.raises(ValueError, match=r"no recipe has this method.*training=training_of\("):
        training_of(own)
    given = {"optimiser": "adamw", "lr": 1e-3, "batch": 8, "epochs": 1}
    assert training_of(own, **given) == Training(**given)


def test_as_near_to_two_methods_is_neither():
    simclr, moco = METHODS["simclr"](size=32), METHODS["moco"](size=32)
    between = simclr.swap(extraction=moco.extraction, similarity=moco.similarity)
    assert recipe_of(between) is None
    with pytest.raises(ValueError, match="no recipe has this method"):
        training_of(between)


def test_a_method_of_the_paper_stays_itself_beside_those_that_change_it(monkeypatch):
    """A swapped loss is as near to a method that differs in the loss alone: it is still SimCLR."""

    def later(encoder=None, *, size=32):
        return METHODS["simclr"](encoder, size=size).swap(loss=Triplet())

    own = METHODS["simclr"](size=32).swap(loss=Triplet(margin=0.123))
    monkeypatch.setitem(METHODS, "later", later)
    monkeypatch.setitem(
        ORIGINS,
        "later",
        Origin(title="Later", authors="Nobody", year=2026, after="simclr", idea="Another loss."),
    )
    assert recipe_of(own) == "simclr"
    assert recipe_of(later()) == "later"
    monkeypatch.setitem(ORIGINS, "later", replace(ORIGINS["later"], after=None))
    assert recipe_of(own) is None  # two families that are as near


def test_a_change_that_no_training_has_is_refused():
    with pytest.raises(TypeError, match="learning_rate"):
        training_of("simclr", learning_rate=1.0)


def test_what_is_different_is_said():
    training = training_of("byol", batch=256, lr=0.3)
    assert (
        recipe_words(method_named("byol", size=32), training)
        == "byol; batch 256 for 4096, lr 0.3 for 0.2"
    )
    assert recipe_words(tiny_method(loss=NCE(), similarity=Bilinear()), training) == "your own"


@pytest.mark.parametrize("name", ["moco-small", "yadim-small"])
def test_a_method_by_its_name_trains_by_its_recipe_from_python(name, tmp_path):
    text = io.StringIO()
    console = Console(file=text, width=200)
    with pytest.raises(ValueError, match=f"a batch of {RECIPES[name].training.batch} from 16"):
        pretrain(name, noise(), out=tmp_path, steps=1, console=console)


def test_the_start_table_and_the_run_say_the_recipe(tmp_path):
    text = io.StringIO()
    method = METHODS["byol-small"](TINY, size=32)
    run = pretrain(
        method,
        noise(),
        out=tmp_path,
        steps=1,
        training=training_of(method, batch=8),
        console=Console(file=text, width=200),
    )
    assert "byol-small with another encoder; batch 8 for 256" in text.getvalue()
    assert run.training.optimiser == "adamw"


def test_the_command_and_python_train_by_the_same_settings(tmp_path, monkeypatch):
    np.save(tmp_path / "images.npy", noise(48).images.permute(0, 2, 3, 1).numpy())
    monkeypatch.chdir(tmp_path)
    main([
        "pretrain", "images.npy", "--method", "amdim-small", "--steps", "1", "--batch-size", "4",
        "--out", "by-command",
    ])  # fmt: skip
    one = Run.open("by-command").training
    two = pretrain(
        "amdim-small", "images.npy", out="by-python", steps=1,
        training=training_of("amdim-small", batch=4), console=Console(file=io.StringIO()),
    ).training  # fmt: skip
    assert one == two
    assert one.optimiser == "adamw"
    assert one.betas == (0.8, 0.999)
