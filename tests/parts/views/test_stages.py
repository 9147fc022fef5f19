"""Every stage equals torchvision's operator for equal parameters, on real images."""

import pytest
import torch
from torchvision.transforms.v2 import functional as tv

from counterpoint.framework import Draw
from counterpoint.methods import simclr
from counterpoint.parts.views import (
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    Normalise,
    RandomResizedCrop,
    Resize,
    colour,
    geometry,
)
from counterpoint.parts.views.randomness import uniform

BOUND = 0.01 / 255


@pytest.fixture(scope="module")
def images(cifar):
    return cifar.train.images[:200].float() / 255


def numbers(count, batch=200):
    return uniform(Draw(0, 0, torch.arange(batch)), view=0, stage=0, count=count)


def assert_close(ours, theirs, bound=BOUND):
    assert (ours - torch.stack(list(theirs))).abs().max().item() < bound


@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        (colour.adjust_brightness, tv.adjust_brightness, 0.2, 1.8),
        (colour.adjust_contrast, tv.adjust_contrast, 0.2, 1.8),
        (colour.adjust_saturation, tv.adjust_saturation, 0.2, 1.8),
        (colour.adjust_hue, tv.adjust_hue, -0.5, 0.5),
    ],
)
def test_colour(images, ours, theirs, low, high):
    factor = low + (high - low) * numbers(1)
    result = ours(images, factor[:, :, None, None])
    assert_close(result, (theirs(x, f.item()) for x, f in zip(images, factor, strict=True)))


@pytest.mark.parametrize("size", [16, 24, 32, 64])
def test_random_resized_crop(images, size):
    stage, drawn = RandomResizedCrop(size), numbers(22)
    boxes = torch.stack(stage.boxes(drawn, 32, 32), dim=1).tolist()
    theirs = (
        tv.resized_crop(x, *box, [size, size], antialias=True)
        for x, box in zip(images, boxes, strict=True)
    )
    assert_close(stage(images, drawn), theirs)


def test_the_crop_falls_back_to_the_centre():
    stage = RandomResizedCrop(8, scale=(0.9, 1.0), ratio=(3.0, 4.0))  # never fits a square
    top, left, height, width = (int(v[0]) for v in stage.boxes(numbers(22, batch=1), 30, 30))
    assert (top, left, height, width) == (10, 0, 10, 30)


def test_flip_grey_and_blur(images):
    drawn = numbers(2)
    flipped = HorizontalFlip(0.5)(images, drawn)
    greyed = Greyscale(0.5)(images, drawn)
    blurred = GaussianBlur(7, p=0.5)(images, drawn)
    sigma = 0.1 + 1.9 * drawn[:, 1]
    chosen = drawn[:, 0] < 0.5
    assert 60 < chosen.sum() < 140
    pick = zip(images, chosen, strict=True)
    assert_close(flipped, [tv.horizontal_flip(x) if c else x for x, c in pick])
    pick = zip(images, chosen, strict=True)
    assert_close(
        greyed, [tv.rgb_to_grayscale(x, num_output_channels=3) if c else x for x, c in pick]
    )
    pick = zip(images, chosen, sigma.tolist(), strict=True)
    assert_close(blurred, [tv.gaussian_blur(x, [7, 7], [s, s]) if c else x for x, c, s in pick])


def test_resize_and_normalise(images):
    nothing = numbers(0)
    assert_close(Resize(20)(images, nothing), (tv.resize(x, [20, 20]) for x in images))
    assert Resize(32)(images, nothing) is images
    stage = Normalise((0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
    theirs = (tv.normalize(x, [0.5, 0.4, 0.3], [0.2, 0.3, 0.4]) for x in images)
    assert_close(stage(images, nothing), theirs, bound=1e-5)


def test_parameters_stay_in_torchvisions_ranges():
    jitter = colour.ColourJitter(0.4, 0.4, 1.4, 0.1)
    factors = jitter.factors(numbers(9))
    low, high = factors.amin(dim=0), factors.amax(dim=0)
    torch.testing.assert_close(low, torch.tensor([0.6, 0.6, 0.0, -0.1]), atol=0.05, rtol=0)
    torch.testing.assert_close(high, torch.tensor([1.4, 1.4, 2.4, 0.1]), atol=0.05, rtol=0)
    boxes = RandomResizedCrop(32, scale=(0.2, 1.0)).boxes(numbers(22), 32, 32)
    area = (boxes[2] * boxes[3]).double() / 32**2
    assert 0.17 < area.min() < 0.3
    assert 0.9 < area.max() <= 1


def test_a_views_of_a_sample_do_not_depend_on_its_batch(cifar):
    views = simclr().views.build((3, 32, 32))
    index = torch.arange(40)
    together = views(cifar.train.images[index], Draw(3, 1, index))
    some = torch.tensor([31, 4, 17])
    apart = views(cifar.train.images[some], Draw(3, 1, some))
    for a, b in zip(together, apart, strict=True):
        assert torch.equal(a[some], b)
    assert not torch.equal(*together)


def test_the_evaluation_view_has_no_chance_in_it(cifar):
    views = simclr().views.build((3, 32, 32))
    images = cifar.train.images[:4]
    assert torch.equal(views.evaluation(images), views.evaluation(images))
    expected = simclr().views.stages[-1](images.float() / 255, numbers(0, batch=4))
    assert torch.equal(views.evaluation(images), expected)


def test_even_blur_is_refused():
    from counterpoint.framework import PartError

    with pytest.raises(PartError, match="views: got a blur of 4 pixels"):
        GaussianBlur(4).shape((3, 32, 32))
    assert geometry.blur_weights(torch.tensor([1.0]), kernel=3, of=5).sum().item() == pytest.approx(
        5
    )
