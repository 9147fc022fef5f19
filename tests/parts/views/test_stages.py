"""Every stage equals torchvision's operator for equal parameters, on 1,000 real images.

Bounds in levels of 255: the issue asks for 1 where floats go in and 2 where bytes do; most
stages are far closer, and the bounds here are what they hold.
"""

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as tv

from counterpoint.framework import PartError
from counterpoint.parts.views import (
    CentreCrop,
    ColourJitter,
    ColourSpace,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    Normalise,
    Patches,
    RandomResizedCrop,
    Resize,
    Solarise,
    Translation,
    adjustments,
)
from counterpoint.parts.views.stage_plan import apply, unit
from drawing import numbers
from reference.colour import lab, ycbcr

COUNT = 1000
MODES = {"bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}


@pytest.fixture(scope="module")
def small(cifar):
    return cifar.train.images[:COUNT]


def levels_apart(ours, theirs):
    """The largest difference, in levels of 255."""
    both = (x.double() if x.dtype.is_floating_point else x.double() / 255 for x in (ours, theirs))
    one, other = both
    return 255 * (one - other).abs().max().item()


def each(images, draw):
    return torch.stack([draw(n, image) for n, image in enumerate(images)])


@pytest.mark.parametrize("bytes_in", [False, True])
@pytest.mark.parametrize(("size", "interpolation"), [(32, "bilinear"), (24, "bicubic")])
def test_random_resized_crop_of_small_images(small, size, interpolation, bytes_in):
    images = small if bytes_in else unit(small)
    stage = RandomResizedCrop(size, interpolation=interpolation)
    drawn = numbers(stage, COUNT)
    side = torch.full((COUNT,), 32)
    boxes = torch.stack(stage.boxes(drawn, side, side), dim=1).tolist()
    theirs = each(
        images, lambda n, x: tv.resized_crop(x, *boxes[n], [size, size], MODES[interpolation])
    )
    # Bytes: torchvision rounds twice, after the columns and after the rows.
    bound = 1.01 if bytes_in else 0.01
    if interpolation == "bicubic" and not bytes_in:
        theirs = theirs.clamp(0, 1)
        assert levels_apart(apply(stage, images, drawn).clamp(0, 1), theirs) < bound
    else:
        assert levels_apart(apply(stage, images, drawn), theirs) < bound


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_random_resized_crop_of_photos(photos, interpolation):
    stage = RandomResizedCrop(128, interpolation=interpolation)
    drawn = numbers(stage, len(photos))
    for n, photo in enumerate(photos):
        height, width = (torch.tensor([side]) for side in photo.shape[-2:])
        mine = drawn[n : n + 1]
        box = [int(v) for v in stage.boxes(mine, height, width)]
        theirs = tv.resized_crop(photo, *box, [128, 128], MODES[interpolation])
        assert torch.equal(apply(stage, photo, mine), theirs)
        ours = apply(stage, unit(photo), mine)
        assert (
            levels_apart(ours, tv.resized_crop(unit(photo), *box, [128, 128], MODES[interpolation]))
            < 0.01
        )


def test_the_crop_falls_back_to_the_centre():
    stage = RandomResizedCrop(8, scale=(0.9, 1.0), ratio=(3.0, 4.0))  # never fits a square
    side = torch.tensor([30])
    assert [int(v) for v in stage.boxes(numbers(stage, 1), side, side)] == [10, 0, 10, 30]


def test_translation_reflects(small):
    """Against amdim-public's way: paste mirrored copies around the image, then cut."""
    stage = Translation(4, p=0.8)
    drawn = numbers(stage, COUNT)
    down, right = (shift.tolist() for shift in stage.shifts(drawn))
    padded = np.pad(small.numpy(), ((0, 0), (0, 0), (4, 4), (4, 4)), mode="reflect")

    def shifted(n, _):
        top, left = 4 - down[n], 4 - right[n]
        return torch.from_numpy(padded[n, :, top : top + 32, left : left + 32])

    assert torch.equal(apply(stage, small, drawn), each(small, shifted))
    still = sum(d == r == 0 for d, r in zip(down, right, strict=True)) / COUNT
    assert 0.15 < still < 0.27  # 0.2, and 1 in 81 of the rest


def test_flip_and_grey(small):
    images = unit(small)
    flip, grey = HorizontalFlip(0.5), Greyscale(0.5)
    drawn = numbers(flip, COUNT)
    chosen = (drawn[:, 0] < 0.5).tolist()
    assert 400 < sum(chosen) < 600
    theirs = each(images, lambda n, x: tv.horizontal_flip(x) if chosen[n] else x)
    assert torch.equal(apply(flip, images, drawn), theirs)
    theirs = each(images, lambda n, x: tv.rgb_to_grayscale(x, 3) if chosen[n] else x)
    assert levels_apart(apply(grey, images, drawn), theirs) < 0.001
    theirs = each(small, lambda n, x: tv.rgb_to_grayscale(x, 3) if chosen[n] else x)
    assert levels_apart(apply(grey, small, drawn), theirs) < 1  # torchvision rounds down


OPERATORS = [
    (adjustments.brightness_, tv.adjust_brightness, 0.2, 1.8),
    (adjustments.contrast_, tv.adjust_contrast, 0.2, 1.8),
    (adjustments.saturation_, tv.adjust_saturation, 0.2, 1.8),
    (adjustments.hue_, tv.adjust_hue, -0.5, 0.5),
]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bytes_in", [False, True])
def test_one_operator(small, kind, compiled, bytes_in):
    operator, theirs, low, high = OPERATORS[kind]
    factors = low + (high - low) * numbers(Greyscale(), COUNT)
    ours = unit(small)
    if compiled:
        from counterpoint.parts.views.compiled import jitter

        order = np.full((COUNT, 1), kind)
        jitter(ours.flatten(2).numpy(), order, factors.expand(-1, 4).contiguous().numpy())
    else:
        operator(ours, factors[:, :, None, None])
    images = small if bytes_in else unit(small)
    expected = each(images, lambda n, x: theirs(x, factors[n].item()))
    # Bytes: torchvision rounds down, and takes the mean of the contrast from rounded greys.
    assert levels_apart(ours, expected) < (2 if bytes_in else 0.01)


@pytest.mark.parametrize("photo", [False, True])
def test_jitter_goes_through_the_operators_in_order(small, photos, photo):
    stage = ColourJitter(0.8, 0.8, 0.8, 0.2, p=0.8)
    batches = [unit(p) for p in photos] if photo else [unit(small)]
    for seed, images in enumerate(batches):
        drawn = numbers(stage, len(images), seed)
        orders, factors = stage.orders(drawn).tolist(), stage.factors(drawn).tolist()

        def jittered(n, x, orders=orders, factors=factors):
            for kind in orders[n]:
                x = OPERATORS[kind][1](x, factors[n][kind]) if kind >= 0 else x
            return x

        assert levels_apart(apply(stage, images, drawn), each(images, jittered)) < 0.02
        eager = images.clone()
        adjustments.jitter_(eager, stage.orders(drawn), stage.factors(drawn))
        assert levels_apart(eager, apply(stage, images, drawn)) < 0.01


def test_a_strength_of_zero_leaves_its_operator_out():
    stage = ColourJitter(0.4, 0, 0, 0, p=1.0)
    assert set(stage.orders(numbers(stage, 50)).flatten().tolist()) == {0, -1}


@pytest.mark.parametrize("bytes_in", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_blur(small, photos, compiled, bytes_in, monkeypatch):
    if not compiled:
        monkeypatch.setattr("counterpoint.parts.views.blur.compiled_for", lambda _: None)
    for images, kernel in [(small, 3), (small[:200], 7), *((p, 23) for p in photos[::6])]:
        stage = GaussianBlur(kernel, p=0.5)
        drawn = numbers(stage, len(images), seed=kernel)
        sigma, chosen = (0.1 + 1.9 * drawn[:, 1]).tolist(), (drawn[:, 0] < 0.5).tolist()
        given = images if bytes_in else unit(images)

        def blurred(n, x, k=kernel, sigma=sigma, chosen=chosen):
            return tv.gaussian_blur(x, [k, k], [sigma[n]] * 2) if chosen[n] else x

        bound = 0.51 if bytes_in else 0.001
        assert levels_apart(apply(stage, given, drawn), each(given, blurred)) < bound


def test_solarise(small):
    stage = Solarise(0.5, p=0.5)
    drawn = numbers(stage, COUNT)
    chosen = (drawn[:, 0] < 0.5).tolist()
    for images, threshold in ((unit(small), 0.5), (small, 128)):
        theirs = each(images, lambda n, x, t=threshold: tv.solarize(x, t) if chosen[n] else x)
        assert levels_apart(apply(stage, images, drawn), theirs) < 0.001


def test_normalise(small):
    stage = Normalise((0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
    theirs = tv.normalize(unit(small), [0.5, 0.4, 0.3], [0.2, 0.3, 0.4])
    torch.testing.assert_close(apply(stage, small, numbers(stage, COUNT)), theirs)


def test_evaluation_stages(small, photos):
    for images, resize, side in [(small, 36, 32), *((photo, 146, 128) for photo in photos)]:
        for interpolation, mode in MODES.items():
            seen, theirs = images, tv.resize(images, [resize], mode)
            theirs = tv.center_crop(theirs, [side, side])
            for stage in (Resize(resize, interpolation), CentreCrop(side)):
                seen = apply(stage, seen, numbers(stage, len(seen)))
            assert levels_apart(seen, theirs) <= 1.01


def test_patches_are_the_windows_of_the_image(small):
    stage = Patches(8, overlap=4)
    grid = stage(unit(small[:50]))
    assert grid.shape == (50, *stage.shape((3, 32, 32)))
    for row in range(7):
        for column in range(7):
            window = unit(small[:50])[:, :, 4 * row : 4 * row + 8, 4 * column : 4 * column + 8]
            assert torch.equal(grid[:, row, column], window)


def test_colour_spaces(small):
    """Against the formulas in float64, one pixel at a time, and against Pillow's YCbCr."""
    images = unit(small[:40, :, ::3, ::3])
    for name, reference in (("lab", lab), ("ycbcr", ycbcr)):
        stage = ColourSpace(name)
        ours = apply(stage, images, numbers(stage, 40)).permute(0, 2, 3, 1).reshape(-1, 3)
        pixels = images.permute(0, 2, 3, 1).reshape(-1, 3).tolist()
        expected = torch.tensor([reference(*pixel) for pixel in pixels])
        torch.testing.assert_close(ours, expected.float(), atol=2e-3, rtol=1e-4)
    pillow = np.array(Image.fromarray(small[0].permute(1, 2, 0).numpy()).convert("YCbCr"))
    full = torch.from_numpy(pillow).double()  # full range: Y from 0 to 255
    ours = apply(ColourSpace("ycbcr"), small[:1], numbers(stage, 1))[0].permute(1, 2, 0)
    studio = torch.stack(
        [16 + full[..., 0] * 219 / 255, *(128 + (full[..., c] - 128) * 224 / 255 for c in (1, 2))],
        dim=-1,
    )
    assert (ours - studio).abs().max() < 1  # Pillow rounds


def test_known_colours():
    """CIE's published values for red, green, blue and white of sRGB (Lindbloom's calculator)."""
    pixels = torch.eye(3).T.reshape(3, 3, 1, 1)
    pixels = torch.cat([pixels, torch.ones(1, 3, 1, 1)])
    stage = ColourSpace("lab")
    ours = apply(stage, pixels, numbers(stage, 4))[:, :, 0, 0]
    known = [(53.24, 80.09, 67.20), (87.73, -86.18, 83.18), (32.30, 79.19, -107.86), (100, 0, 0)]
    torch.testing.assert_close(ours, torch.tensor(known), atol=0.02, rtol=0)


@pytest.mark.parametrize(
    ("stage", "image", "message"),
    [
        (GaussianBlur(4), (3, 32, 32), "a blur of 4 pixels"),
        (ColourJitter(0.4, 0.4, 0.4, 0.1), (1, 32, 32), "1 channels for colour jitter"),
        (Greyscale(), (2, 32, 32), "2 channels for greyscale"),
        (ColourSpace("lab"), (4, 32, 32), "4 channels for the colour space lab"),
        (Normalise((0.5,), (0.5,)), (3, 32, 32), "3 channels, 1 means"),
        (Translation(32), (3, 32, 32), "a translation by 32"),
        (CentreCrop(64), (3, 32, 64), "a central crop of 64"),
        (Patches(8, overlap=4), (3, 30, 30), "patches of 8 every 4 pixels"),
    ],
)
def test_what_has_no_meaning_is_refused(stage, image, message):
    with pytest.raises(PartError, match=f"views: got.*{message}"):
        stage.shape(image)


def test_any_number_of_channels_where_it_has_a_meaning():
    images = torch.randint(256, (6, 5, 32, 32), dtype=torch.uint8)
    stages = (RandomResizedCrop(24), Translation(3), HorizontalFlip(), Solarise(), GaussianBlur(3))
    for stage in stages:
        seen = apply(stage, images, numbers(stage, 6))
        assert seen.shape == (6, *stage.shape((5, 32, 32)))
        alone = apply(stage, images[:, 2:3].contiguous(), numbers(stage, 6))
        assert torch.equal(seen[:, 2:3], alone)
