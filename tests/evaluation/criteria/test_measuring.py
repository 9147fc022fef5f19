"""The criteria of a model: of its own vectors, on pixels that do not depend on its method."""

import math
from dataclasses import replace

import pytest
import torch

from counterpoint.data import as_source, open_data
from counterpoint.evaluation import Representation
from counterpoint.evaluation.criteria import (
    CRITERIA,
    cluster_learnability,
    goodness,
    measured,
    quarter_turns,
    rotation_folds,
    rotation_probe,
)
from counterpoint.evaluation.criteria.measuring import VIEWS, pixels, several, whole
from counterpoint.evaluation.health import alpha_req, lidar, rankme
from counterpoint.methods import METHODS
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.views import HorizontalFlip, Pipeline, RandomResizedCrop
from counterpoint.parts.views.pipelines import simclr_views

SOME = 80  # more than the 64 that learnability begins with


@pytest.fixture(scope="module")
def images(cifar):
    return cifar.train.first(SOME)


def built(name="simclr-small", side=32, encoder=None, **swaps):
    torch.manual_seed(0)
    method = METHODS[name](encoder, size=side) if encoder else METHODS[name](size=side)
    return method.swap(**swaps).build(image=(3, side, side))


def thin(**swaps):
    return built(encoder=NarrowResNet(widths=(8, 16), blocks=(1, 1), stride=2), **swaps)


def test_they_are_those_of_the_models_own_vectors(images):
    model = thin()
    found = measured(model, images, CRITERIA, side=32)
    represent = Representation(model)
    order = torch.tensor([n for n in _order(images) if n < SOME])
    some = images.images[order]
    plain = represent(some)
    views = pixels(as_source(some), several(32), side=32, seed=0)
    who = torch.arange(SOME).repeat(VIEWS)
    assert found == {
        "rankme": float(rankme(plain)),
        "lidar": float(lidar(represent(views), who)),
        "alpha": float(alpha_req(plain)),
        "rotation": rotation_probe(represent(quarter_turns(some))),
        "rotation-folds": rotation_folds(represent(quarter_turns(some))),
        "learnability": cluster_learnability(plain),
        "collapsed": 0.0,
    }


@pytest.mark.parametrize("name", ["amdim-small", "cpc-small", "yadim-small", "cmc-small"])
def test_encoders_of_several_maps_of_patches_and_of_two_networks_have_them(name, images):
    model = built(name)
    found = measured(model, images, CRITERIA, side=32)
    assert set(found) == {*CRITERIA, "collapsed"}
    assert all(map(math.isfinite, found.values()))
    assert found["collapsed"] == 0.0


def test_the_views_of_a_method_change_nothing(images):
    other = replace(simclr_views(32), stages=(HorizontalFlip(0.9), simclr_views(32).stages[-1]))
    one, two = thin(), thin(views=other)
    assert measured(one, images, CRITERIA, side=32) == measured(two, images, CRITERIA, side=32)


def test_a_seed_draws_the_images_and_the_views(cifar):
    model = thin()
    look = [measured(model, cifar.train.first(400), ("lidar",), side=32, seed=n) for n in (0, 0, 1)]
    assert look[0] == look[1] != look[2]


@pytest.mark.parametrize("weight", [0.0, math.nan])
def test_a_model_that_collapsed_has_none(images, weight):
    model = thin()
    with torch.no_grad():
        for parameter in model.encoder.parameters():
            parameter.fill_(weight)
    found = measured(model, images, CRITERIA, side=32)
    assert found.pop("collapsed") == 1.0
    assert set(found) == set(CRITERIA)
    assert all(map(math.isnan, found.values()))


def test_an_image_as_it_is_keeps_its_bytes_and_views_stand_one_after_the_other():
    colours = torch.arange(120, dtype=torch.uint8).view(120, 1, 1, 1).expand(-1, 3, 16, 16)
    source = as_source(colours.contiguous())
    assert torch.equal(pixels(source, whole(16), side=16, seed=0), colours)
    crops = pixels(source, Pipeline((RandomResizedCrop(16),), views=3), side=16, seed=0)
    assert torch.equal(crops, colours.repeat(3, 1, 1, 1))


def test_pictures_of_any_size_are_cut_to_the_side(data):
    photos = open_data(data / "caltech20").train.first(70)
    assert photos.one_shape is None
    assert pixels(photos, several(48), side=48, seed=0).shape == (70 * VIEWS, 3, 48, 48)
    model = built(side=48, encoder=NarrowResNet(widths=(8, 16), blocks=(1, 1), stride=2))
    found = measured(model, photos, ("lidar", "rotation"), side=48)
    assert 1 < found["lidar"] <= 32
    assert 0.1 < found["rotation"] <= 1


def test_more_is_better_but_of_alpha_which_is_best_near_one():
    assert goodness("alpha", 1.1) > goodness("alpha", 0.8) > goodness("alpha", 1.5)
    assert goodness("lidar", 9.0) > goodness("lidar", 8.0)
    assert math.isnan(goodness("alpha", math.nan))


def test_a_criterion_that_is_not_there_is_refused(images):
    with pytest.raises(ValueError, match=r"no criterion 'rankm'.*rankme"):
        measured(thin(), images, ("rankm",), side=32)


def _order(images):
    from counterpoint.framework.permutation import drawn

    return drawn(len(images), 2000, seed=0)
