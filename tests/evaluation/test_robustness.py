"""Corruptions against loops and statistics; the same bit for bit in any batch; what is measured."""

import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from counterpoint.data import ArraySource
from counterpoint.evaluation import Representation, knn
from counterpoint.evaluation.robustness import (
    CORRUPTIONS,
    SEVERITIES,
    SHIFTS,
    Robustness,
    Shift,
    corrupt,
    digital,
    elastic,
    measure,
    noise,
    robustness,
    shifted,
    weather,
)
from counterpoint.evaluation.robustness import blurs as blur
from counterpoint.evaluation.robustness.noise_streams import (
    NoiseStream,
    normal,
    random_words,
    uniform_noise,
)
from counterpoint.evaluation.robustness.plasma import plasma
from counterpoint.evaluation.robustness.zooming import zoomed
from counterpoint.framework import Draw
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from reference import corruptions as slow

SIZES = ((32, 32), (19, 24), (49, 52))  # the last takes the settings for large images
CHANCE = {
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "speckle_noise",
    "motion_blur",
    "snow",
    "fog",
    "elastic_transform",
}


def draw(count, *, seed=3, first=0):
    return Draw(seed, 0, torch.arange(first, first + count))


@pytest.fixture(scope="module")
def real(cifar):
    return cifar.test.images[:256]


@pytest.fixture(scope="module")
def sized(real, photos):
    """Two real images of every size."""
    large = torch.nn.functional.interpolate(photos[3], (49, 52))
    return {
        (32, 32): real[:2],
        (19, 24): real[2:4, :, 3:22, 4:28],
        (49, 52): torch.cat([large, large.flip(-1)]),
    }


def flat(level, *, count=40, side=32):
    return torch.full((count, 3, side, side), level, dtype=torch.uint8)


def difference(ours, theirs):
    """The largest difference in levels, over images."""
    pairs = zip(ours.numpy().astype(int), theirs, strict=True)
    return max(np.abs(one - other).max() for one, other in pairs)


# The settings

TABLES = {
    "gaussian_noise": noise.GAUSSIAN,
    "shot_noise": noise.SHOT,
    "impulse_noise": noise.IMPULSE,
    "speckle_noise": noise.SPECKLE,
    "gaussian_blur": blur.GAUSSIAN,
    "defocus_blur": blur.DEFOCUS,
    "motion_blur": blur.MOTION,
    "zoom_blur": blur.ZOOM,
    "snow": weather.SNOW,
    "fog": weather.FOG,
    "brightness": weather.BRIGHTNESS,
    "contrast": weather.CONTRAST,
    "elastic_transform": elastic.ELASTIC,
    "pixelate": digital.PIXELATE,
    "jpeg_compression": digital.JPEG,
    "saturate": digital.SATURATE,
}


def written(setting):
    return "/".join(f"{value:g}" for value in np.atleast_1d(setting))


def test_the_document_gives_every_setting():
    lines = (Path(__file__).parents[2] / "docs/robustness.md").read_text().splitlines()
    assert list(TABLES) == list(CORRUPTIONS)
    for name, table in TABLES.items():
        rows = [line.strip("| ").split(" | ") for line in lines if line.startswith(f"| {name} |")]
        settings = [row[1:] for row in rows if len(row) == 6]
        assert settings == [[written(s) for s in of] for of in (table.small, table.large)]


def test_the_shorter_side_chooses_the_settings():
    for (tall, wide), expected in (((48, 300), 0.04), ((49, 49), 0.08), ((300, 16), 0.04)):
        images = torch.zeros(1, 3, tall, wide, dtype=torch.uint8)
        assert noise.GAUSSIAN.at(images, 1) == expected


# Random numbers


def test_numbers_belong_to_the_sample_and_are_a_prefix():
    many = random_words(draw(9), NoiseStream.FOG, 40)
    assert torch.equal(random_words(draw(1, first=5), NoiseStream.FOG, 13), many[5:6, :13])
    assert not torch.equal(many, random_words(draw(9), NoiseStream.SNOW_FLAKES, 40))
    assert not torch.equal(many, random_words(draw(9, seed=4), NoiseStream.FOG, 40))
    assert not torch.equal(many, random_words(Draw(3, 1, torch.arange(9)), NoiseStream.FOG, 40))
    assert len(many.unique()) == many.numel()


def test_uniform_and_normal_numbers_have_their_distributions():
    """Kolmogorov and Smirnov's distance at one in a thousand, and moments."""
    count = 500_000
    flat_numbers = (
        uniform_noise(draw(4), NoiseStream.FOG, count // 4).flatten().sort().values.double()
    )
    bells = normal(draw(4), NoiseStream.FOG, count // 4).flatten().sort().values.double()
    place = (torch.arange(count).double() + 0.5) / count
    limit = 1.95 / math.sqrt(count)
    assert (flat_numbers - place).abs().max() < limit
    assert (torch.special.ndtr(bells) - place).abs().max() < limit + 2.0**-17
    assert abs(bells.mean()) < 4 / math.sqrt(count)
    assert abs(bells.var() - 1) < 4 * math.sqrt(2 / count)
    assert abs((bells**4).mean() - 3) < 4 * math.sqrt(96 / count)


def test_neighbouring_numbers_are_not_related():
    numbers = normal(draw(2), NoiseStream.SHOT_NOISE, 100_000)
    for step in (1, 2, 3, 4, 8):
        assert (numbers[:, step:] * numbers[:, :-step]).mean().abs() < 4 / math.sqrt(200_000)
    assert (numbers[0] * numbers[1]).mean().abs() < 4 / math.sqrt(100_000)


# Noise, by statistics


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("side", [32, 50])
def test_gaussian_and_speckle_noise_have_their_deviation(severity, side):
    for level, kind, table in (
        (128, "gaussian_noise", noise.GAUSSIAN),
        (100, "speckle_noise", noise.SPECKLE),
    ):
        images = flat(level, side=side)
        c = table.at(images, severity) * (1 if kind == "gaussian_noise" else level / 255)
        drawn = corrupt(kind, images, severity, draw(len(images))).double()
        bell = torch.special.ndtri((torch.arange(100_000).double() + 0.5) / 100_000)
        expected = (level + 255 * c * bell).round().clamp(0, 255)
        error = 1 / math.sqrt(drawn.numel())
        assert abs(drawn.mean() - expected.mean()) < 4 * expected.std() * error
        assert abs(drawn.var() / expected.var() - 1) < 6 * error


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("side", [32, 50])
@pytest.mark.parametrize("level", [0, 5, 90, 255])
def test_shot_noise_counts_photons(severity, side, level):
    """Mean and variance of Poisson's distribution, cut off at white, from its definition."""
    images = flat(level, side=side)
    c = noise.SHOT.at(images, severity)
    mean, share, shares = level / 255 * c, math.exp(-level / 255 * c), []
    for k in range(2 * c + 60):
        shares.append(share)
        share *= mean / (k + 1)
    seen = [round(255 * min(k / c, 1)) for k in range(len(shares))]
    expected = sum(p * v for p, v in zip(shares, seen, strict=True))
    variance = sum(p * (v - expected) ** 2 for p, v in zip(shares, seen, strict=True))
    drawn = corrupt("shot_noise", images, severity, draw(len(images))).double()
    assert abs(drawn.mean() - expected) <= 4 * math.sqrt(variance / drawn.numel())
    assert abs(drawn.var() - variance) <= 0.05 * variance


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("side", [32, 50])
def test_impulses_have_their_rate_and_leave_the_rest(severity, side):
    images = flat(77, side=side)
    c = noise.IMPULSE.at(images, severity)
    drawn = corrupt("impulse_noise", images, severity, draw(len(images)))
    error = 4 * math.sqrt(c / 2 / drawn.numel())
    for struck in (0, 255):
        assert abs((drawn == struck).double().mean() - c / 2) < error
    assert set(drawn.unique().tolist()) == {0, 77, 255}
    together = (drawn != 77).double().prod(dim=1).mean()  # channels are struck independently
    assert abs(together - c**3) < 4 * math.sqrt(c**3 / drawn[:, 0].numel())


# Everything else, against loops; a level of difference is a rounding


def apart(name, images, severity, loops, settings):
    """How far our corruption is from loops over every image with its settings."""
    ours = corrupt(name, images, severity, draw(len(images)))
    pairs = zip(images.numpy(), settings, strict=True)
    return difference(ours, [loops(image, *mine) for image, mine in pairs])


SOME = [*((SIZES[0], severity) for severity in SEVERITIES), (SIZES[1], 4)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_light_and_colour_equal_loops(sized, size, severity):
    images = sized[size].clone()
    images[:, :, 0, :3] = torch.tensor([0, 128, 255], dtype=torch.uint8)  # without a hue
    bright, kept = weather.BRIGHTNESS.at(images, severity), weather.CONTRAST.at(images, severity)
    assert apart("brightness", images, severity, slow.brightness, [(bright,)] * 2) <= 1
    assert apart("contrast", images, severity, slow.contrast, [(kept,)] * 2) <= 1
    colour = digital.SATURATE.at(images, severity)
    assert apart("saturate", images, severity, slow.saturate, [colour] * 2) <= 1


@pytest.mark.parametrize(("size", "severity"), [*SOME, (SIZES[2], 1)])
def test_gaussian_blur_equals_loops(sized, size, severity):
    images = sized[size][:1]
    sigma = blur.GAUSSIAN.at(images, severity)
    assert apart("gaussian_blur", images, severity, slow.gaussian_blur, [(sigma,)]) <= 1


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_wide_gaussian_blur_equals_scipy(photos, severity):
    from scipy.ndimage import gaussian_filter

    images, sigma = photos[5][:, :, :90, :110], blur.GAUSSIAN.large[severity - 1]

    def theirs(image):
        blurred = gaussian_filter(image.astype(float), (0, sigma, sigma), mode="nearest")
        return np.rint(blurred)

    assert apart("gaussian_blur", images, severity, theirs, [()]) <= 1


@pytest.mark.parametrize(("size", "severity"), [*SOME, (SIZES[2], 5)])
def test_defocus_blur_equals_loops(sized, size, severity):
    images = sized[size][:1]
    settings = blur.DEFOCUS.at(images, severity)
    assert apart("defocus_blur", images, severity, slow.defocus_blur, [settings]) <= 1


@pytest.mark.parametrize(("size", "severity"), [*SOME, (SIZES[2], 5)])
def test_motion_blur_equals_loops(sized, size, severity):
    images = sized[size]
    turns = uniform_noise(draw(2), NoiseStream.MOTION_BLUR, 1)[:, 0].tolist()
    settings = [(90 * turn - 45, *blur.MOTION.at(images, severity)) for turn in turns]
    assert apart("motion_blur", images, severity, slow.motion_blur, settings) <= 1


PUBLISHED = {
    32: [(1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)],
    49: [(1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)],
}


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]])
def test_zoom_blur_equals_loops_over_the_published_ranges(sized, size, severity):
    end, step = PUBLISHED[size[0]][severity - 1]
    factors = np.arange(1, end, step)
    assert apart("zoom_blur", sized[size][:1], severity, slow.zoom_blur, [(factors,)]) <= 1


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.02, 1.13, 1.26, 1.75, 2.25, 4.5])
@pytest.mark.parametrize("side", [17, 32, 48, 224])
def test_a_zoom_is_scipys(factor, side):
    from scipy.ndimage import zoom

    image = torch.rand(side, side, generator=torch.Generator().manual_seed(1))
    cut = math.ceil(side / factor)
    top = (side - cut) // 2
    grown = zoom(image[top : top + cut, top : top + cut].numpy(), factor, order=1)
    trim = (len(grown) - side) // 2
    theirs = grown[trim : trim + side, trim : trim + side]
    assert np.abs(zoomed(image, factor).numpy() - theirs).max() < 1e-4


@pytest.mark.parametrize("decay", [1.4, 3.0])
def test_plasma_equals_loops(decay):
    numbers = uniform_noise(draw(3), NoiseStream.FOG, 64 * 64)
    for one, ours in zip(numbers.double(), plasma(numbers, 64, decay), strict=True):
        theirs = torch.tensor(slow.plasma(one.tolist(), 64, decay))
        assert (ours - theirs).abs().max() < 1e-5
        assert (ours.min(), ours.max()) == (0, 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("severity", [1, 5])
def test_fog_equals_loops(sized, size, severity):
    images, side = sized[size], 64 if size == (49, 52) else 32
    thickness, decay = weather.FOG.at(images, severity)
    numbers = uniform_noise(draw(2), NoiseStream.FOG, side**2).tolist()
    settings = [(mine, side, decay, thickness) for mine in numbers]
    assert apart("fog", images, severity, slow.fog, settings) <= 1


@pytest.mark.parametrize(("size", "severity"), [*SOME, (SIZES[2], 3)])
def test_snow_equals_loops(sized, size, severity):
    images = sized[size]
    flakes = normal(draw(2), NoiseStream.SNOW_FLAKES, size[0] * size[1]).tolist()
    turns = uniform_noise(draw(2), NoiseStream.SNOW_ANGLE, 1)[:, 0].tolist()
    pairs, table = zip(flakes, turns, strict=True), weather.SNOW.at(images, severity)
    settings = [(mine, 90 * turn - 135, table) for mine, turn in pairs]
    assert apart("snow", images, severity, slow.snow, settings) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("severity", [1, 2, 5])
def test_the_elastic_transform_equals_loops(sized, size, severity):
    images, count = sized[size], size[0] * size[1]
    side = min(size) * (244 / 224 if size == (49, 52) else 1)
    far, smooth, corner = (share * side for share in elastic.ELASTIC.at(images, severity))
    moves = corner * (2 * uniform_noise(draw(2), NoiseStream.ELASTIC_AFFINE, 6).double() - 1)
    fields = random_words(draw(2), NoiseStream.ELASTIC_FIELD, 2 * count).double() / 2**31 - 1
    fields = fields.view(2, 2, *size).numpy()
    settings = [(moves[n].tolist(), fields[n], far, smooth) for n in (0, 1)]
    assert apart("elastic_transform", images, severity, slow.elastic_transform, settings) <= 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_pixelate_is_pillows_box_to_the_bit(sized, size, severity):
    images, (tall, wide) = sized[size], size
    c = digital.PIXELATE.at(images, severity)

    def pillows(image):
        whole = Image.fromarray(image.transpose(1, 2, 0))
        small = whole.resize((int(wide * c), int(tall * c)), Image.Resampling.BOX)
        return np.array(small.resize((wide, tall), Image.Resampling.BOX)).transpose(2, 0, 1)

    assert apart("pixelate", images, severity, pillows, [(), ()]) == 0


@pytest.mark.parametrize("severity", SEVERITIES)
def test_jpeg_has_the_quality_of_the_table(sized, severity, tmp_path):
    for size in (SIZES[0], SIZES[2]):
        image = sized[size][0]
        quality = digital.JPEG.at(sized[size], severity)
        file = tmp_path / "image.jpg"
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(file, quality=quality)
        read = np.array(Image.open(file)).transpose(2, 0, 1)
        ours = corrupt("jpeg_compression", sized[size][:1], severity, draw(1))
        assert np.array_equal(ours[0].numpy(), read)


# What holds for all


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("size", SIZES)
def test_a_corruption_is_the_samples_own_to_the_bit(real, photos, name, size):
    """Alone, in any batch and in any order; other numbers give other chance, and only chance."""
    whole = real if max(size) <= 32 else torch.cat(photos[1:12:4])[:, :, : size[0], : size[1]]
    images = whole[:23, :, : size[0], : size[1]]
    index = torch.arange(len(images)) * 1000 + 2**33
    for severity in (1, 4):
        together = corrupt(name, images, severity, Draw(5, 2, index))
        direct = CORRUPTIONS[name](images, severity, Draw(5, 2, index))
        assert torch.equal(together, direct)
        back = CORRUPTIONS[name](images.flip(0), severity, Draw(5, 2, index.flip(0)))
        assert torch.equal(together, back.flip(0))
        for n in range(0, len(images), 5):
            some = slice(n, n + 1 + n % 3)
            alone = CORRUPTIONS[name](images[some], severity, Draw(5, 2, index[some]))
            assert torch.equal(together[some], alone)
        others = (Draw(6, 2, index), Draw(5, 3, index), Draw(5, 2, index + 1))
        for other in others:
            same = torch.equal(together, corrupt(name, images, severity, other))
            assert same == (name not in CHANCE)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_shape_and_type_are_kept_and_the_images_too(real, name):
    for tall, wide in ((16, 16), (17, 31), (16, 60), (48, 49), (49, 70)):
        images = real[:2].repeat(1, 1, 2, 3)[:, :, :tall, :wide]
        before = images.clone()
        for severity in SEVERITIES:
            found = corrupt(name, images, severity, draw(2))
            assert (found.shape, found.dtype) == (images.shape, torch.uint8)
            assert not torch.equal(found, images)
        assert torch.equal(images, before)


def test_images_in_another_memory_layout_are_the_same(real):
    last = real[:3].contiguous(memory_format=torch.channels_last)
    for name in CORRUPTIONS:
        assert torch.equal(corrupt(name, last, 3, draw(3)), corrupt(name, real[:3], 3, draw(3)))


UNORDERED = {"saturate", "elastic_transform"}  # their published settings go up and down


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_higher_severity_changes_real_images_more(real, name):
    change = [
        (corrupt(name, real, severity, draw(len(real))).double() - real).square().mean().item()
        for severity in SEVERITIES
    ]
    assert change[0] > 3
    if name in UNORDERED:
        assert change != sorted(change)
    else:
        # The fourth motion blur has the width of the third; only its far end is longer.
        assert change == sorted(change)
        assert change[-1] > 2 * change[0]


@pytest.mark.parametrize("side", [32, 60])
def test_what_has_no_structure_cannot_lose_any(side):
    still = {"gaussian_blur", "defocus_blur", "motion_blur", "zoom_blur", "contrast"}
    for severity in SEVERITIES:
        for name in still | {"elastic_transform", "pixelate"}:
            images = flat(201, count=2, side=side)
            assert torch.equal(corrupt(name, images, severity, draw(2)), images)
        for name in ("shot_noise", "speckle_noise", "fog"):
            black = flat(0, count=2, side=side)
            assert torch.equal(corrupt(name, black, severity, draw(2)), black)
        white = flat(255, count=2, side=side)
        assert torch.equal(corrupt("brightness", white, severity, draw(2)), white)


def test_images_that_are_not_coloured_or_too_small_are_refused():
    grey = torch.zeros(2, 1, 32, 32, dtype=torch.uint8)
    small = torch.zeros(2, 3, 15, 32, dtype=torch.uint8)
    for name in CORRUPTIONS:
        said = name.replace("_", " ")
        with pytest.raises(ValueError, match=f"{said}: got images of 1 channels, needs red, green"):
            corrupt(name, grey, 1, draw(2))
        with pytest.raises(ValueError, match=f"{said}: got images of 15 x 32, needs 16 pixels"):
            corrupt(name, small, 1, draw(2))
        for severity in (0, 6):
            with pytest.raises(ValueError, match=f"{said}: got severity {severity}, needs 1, 2, 3"):
                corrupt(name, flat(0, count=2), severity, draw(2))
    with pytest.raises(ValueError, match="got 'rain', needs one of gaussian_noise"):
        corrupt("rain", flat(0, count=2), 1, draw(2))
    with pytest.raises(ValueError, match="got 2 images and 3 numbers of samples"):
        corrupt("fog", flat(0, count=2), 1, draw(3))


# Shifts


def test_a_crop_is_the_window_moved(sized):
    for size, images in sized.items():
        tall, wide = size
        for name, way in (("up", (-1, 0)), ("down", (1, 0)), ("left", (0, -1)), ("right", (0, 1))):
            for part in (0.125, 0.25):
                moves = round(part * tall) * way[0], round(part * wide) * way[1]
                theirs = [slow.moved(image.numpy(), *moves) for image in images]
                assert difference(shifted(images, SHIFTS[f"crop {name} {part:g}"]), theirs) == 0


@pytest.mark.parametrize("size", [(32, 32), (96, 72)])
@pytest.mark.parametrize("scale", [0.5, 0.65, 0.8, 1.25, 1.5])
def test_a_scale_is_torchvisions_resize_of_a_reflected_box(photos, scale, size):
    from torchvision.transforms.v2 import functional as V

    images = photos[3][:, :, : size[0], : size[1]]
    height, width = (round(side / scale) for side in size)
    top, left = (size[0] - height) // 2, (size[1] - width) // 2
    if scale < 1:
        around = [-left, -top, width - size[1] + left, height - size[0] + top]
        box = V.pad(images, around, padding_mode="reflect")
    else:
        box = images[:, :, top : top + height, left : left + width]
    theirs = V.resize(box, list(size), antialias=True)
    assert difference(shifted(images, SHIFTS[f"scale {scale:g}"]), theirs.numpy().astype(int)) <= 1


def test_a_shift_is_the_images_own_to_the_bit(real):
    for shift in SHIFTS.values():
        together = shifted(real[:40], shift)
        for count in (1, 3, 17):
            assert torch.equal(together[:count], shifted(real[:count], shift))
        assert torch.equal(together[20:].flip(0), shifted(real[20:40].flip(0), shift))
        assert together.shape == real[:40].shape
        assert not torch.equal(together, real[:40])
    assert torch.equal(shifted(real, Shift()), real)


def test_a_shift_that_needs_more_than_a_reflection_is_refused():
    for settings in ({"scale": 0.4}, {"scale": -1.0}, {"down": 0.6}, {"scale": 0.6, "right": 0.3}):
        with pytest.raises(ValueError, match="at most half a side"):
            Shift(**settings)
    with pytest.raises(ValueError, match="got images of 12 x 32"):
        shifted(torch.zeros(1, 3, 12, 32, dtype=torch.uint8), Shift(down=0.25))


# What is measured


@pytest.fixture(scope="module")
def representation():
    torch.manual_seed(0)
    encoder = NarrowResNet(widths=(8, 8), blocks=(1, 1))
    return Representation(simclr(encoder, size=32).build(image=(3, 32, 32)))


@pytest.fixture(scope="module")
def source(cifar):
    return cifar.test.subset("some", torch.arange(60))


@pytest.fixture(scope="module")
def train(representation, source):
    """The same images: their nearest neighbours are they themselves."""
    return representation(source.images), source.labels


def test_figures_are_those_of_the_probe_on_changed_images(representation, source, train):
    probe = partial(knn, *train, k=1)
    names = ("gaussian_noise", "contrast", "fog")
    found = robustness(
        representation,
        train,
        source,
        classify=probe,
        corruptions=names,
        shifts=("scale 0.8", "crop up 0.125"),
        seed=9,
        batch=25,
    )
    assert found.clean == 1
    for name in names:
        for severity, figure in zip(SEVERITIES, found.corruptions[name], strict=True):
            changed = corrupt(name, source.images, severity, Draw(9, 0, torch.arange(60)))
            right = probe(representation(changed)) == source.labels
            assert figure == pytest.approx(right.double().mean().item())
    for name, figure in found.shifts.items():
        right = probe(representation(shifted(source.images, SHIFTS[name]))) == source.labels
        assert figure == pytest.approx(right.double().mean().item())
    assert found.corruptions["gaussian_noise"][4] < found.corruptions["gaussian_noise"][0] <= 1


def test_images_of_classes_that_the_probe_has_not_learned_count_as_wrong(
    representation, source, train
):
    some = source.labels != 3
    known = train[0][some], train[1][some]
    found = robustness(representation, known, source, corruptions=("fog",), shifts=())
    right = knn(*known, train[0]) == source.labels
    assert found.clean == pytest.approx(right.double().mean().item())
    assert 0 < found.clean < 1


def test_the_means_are_over_severities_then_corruptions():
    found = Robustness(
        clean=0.9,
        corruptions={"fog": (0.8, 0.6), "snow": (0.5, 0.1)},
        shifts={"scale 0.8": 0.7},
        severities=(1, 5),
    )
    assert found.mean == pytest.approx(0.5)
    assert found.relative == pytest.approx(0.4)  # the error grows from 0.1 to 0.5
    assert json.loads(json.dumps(found.to_dict())) == {
        "clean": 0.9,
        "corruptions": {"fog": [0.8, 0.6], "snow": [0.5, 0.1]},
        "shifts": {"scale 0.8": 0.7},
        "severities": [1, 5],
        "mean": pytest.approx(0.5),
        "relative": pytest.approx(0.4),
    }


def test_everything_is_measured_in_batches_by_default(representation, source, train, monkeypatch):
    sizes = []

    def watched(name, images, severity, draw):
        sizes.append(len(images))
        return images

    monkeypatch.setattr(measure, "corrupt", watched)
    few = source.subset("few", torch.arange(20))
    found = robustness(representation, train, few, batch=8)
    assert set(found.corruptions) == set(CORRUPTIONS)
    assert set(found.shifts) == set(SHIFTS)
    assert sizes == [8, 8, 4] * len(CORRUPTIONS) * len(SEVERITIES)
    default = float((knn(*train, train[0][:20]) == few.labels).double().mean())
    assert found.clean == default
    assert all(figures == (default,) * 5 for figures in found.corruptions.values())


def test_what_cannot_be_measured_is_refused(representation, source, train):
    measured = partial(robustness, representation, train)
    for wrong in (("rain",), ("fog", "fog"), ()):
        with pytest.raises(
            ValueError, match=r"robustness: got corruptions .*needs some of gaussian"
        ):
            measured(source, corruptions=wrong)
    with pytest.raises(ValueError, match=r"got severities .0, 5., needs some of 1, 2, 3, 4, 5"):
        measured(source, severities=(0, 5))
    with pytest.raises(ValueError, match=r"got shifts .'scale 7'., needs some of scale 0.5"):
        measured(source, shifts=("scale 7",))
    with pytest.raises(ValueError, match="got bare without labelled images"):
        measured(ArraySource("bare", source.images))
