"""Views on a device are the CPU's, with no wait of the host and few operators."""

import pytest
import torch
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as tv

from accelerator import DEVICE, pretend
from counterpoint.framework import Draw
from counterpoint.framework.constants import _both
from counterpoint.parts.views import (
    ColourJitter,
    ColourSpace,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    MultiView,
    Pipeline,
    RandomResizedCrop,
    Resize,
    Solarise,
    Translation,
    pipelines,
    stage_plan,
)
from counterpoint.parts.views.stage_plan import apply, unit
from drawing import numbers

NAMES = ("simclr", "moco", "byol", "amdim", "cpc", "yadim", "cmc")
OPERATORS = (tv.adjust_brightness, tv.adjust_contrast, tv.adjust_saturation, tv.adjust_hue)
MODES = {"bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """The CPU's side without numba: torch's operators, as on a device."""
    for module in ("colour", "blur"):
        monkeypatch.setattr(f"counterpoint.parts.views.{module}.compiled_for", lambda _: None)


@pytest.fixture(scope="module")
def squares(photos):
    """Photos as squares of 160, bytes."""
    some = photos[::4]
    return torch.cat([torch.nn.functional.interpolate(photo, (160, 160)) for photo in some])


def sized(squares, count, side):
    return torch.nn.functional.interpolate(squares[:count], (side, side))


def there(draw):
    return Draw(draw.seed, draw.epoch, draw.index.to(DEVICE))


def on_device(make, *images):
    """Make views of images of the device, without a wait; MPS lacks all that CUDA lacks."""
    with pretend("mps") as seen:
        moved = [image.to(DEVICE) for image in images]
        seen.clear()
        views = make(*moved)
        assert not seen.waits
        assert all(view.device.type == DEVICE.type for view in views)
        return tuple(view.cpu() for view in views)


def apart(ours, theirs):
    """The largest difference, in levels of 255."""
    assert len(ours) == len(theirs)
    return max(
        255 * (a.float() - b.float()).abs().max().item() for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_training_and_evaluation_of_small_images(name, size, squares):
    images = sized(squares, 24, size)
    draw = Draw(5, 2, torch.arange(24) + 2**33)
    built = getattr(pipelines, f"{name}_views")(size).build((3, size, size))
    with pretend():
        mine = there(draw)
    ours = on_device(lambda x: built(x, mine), images)
    assert apart(ours, built(images, draw)) < 0.01
    quiet = built.evaluation
    ours = on_device(lambda x: quiet(x, mine), images)
    # 64 pixels are resized to 73 first: more than 64, so the CPU takes torch's operator.
    levels = 1 / 0.22 if size > 32 else 0  # a rounding, over the least deviation
    assert apart(ours, quiet(images, draw)) < levels + 0.01


@pytest.mark.parametrize("name", NAMES)
def test_views_smaller_than_the_images(name, squares):
    """STL-10's 96 pixels are seen at 64, in training and evaluation."""
    images, draw = sized(squares, 6, 96), Draw(0, 0, torch.arange(6))
    built = getattr(pipelines, f"{name}_views")(64).build((3, 96, 96))
    with pretend():
        mine = there(draw)
    for views in (built, built.evaluation):
        ours = on_device(lambda x, views=views: views(x, mine), images)
        theirs = views(images, draw)
        assert [tuple(view.shape[1:]) for view in ours] == list(views.shapes)
        # A rounding of the crop goes through the jitter, so only most pixels are near.
        for one, other in zip(ours, theirs, strict=True):
            assert (one - other).abs().quantile(0.9) < 2 / 255 / 0.22


@pytest.mark.parametrize("name", NAMES)
def test_files_are_finished(name, squares):
    """What workers have cut, at 224 pixels."""
    built = getattr(pipelines, f"{name}_views")(224).build((3, 224, 224))
    views = 1 if name in ("cpc", "cmc") else 2
    cuts = [sized(squares[n:], 6, 224) for n in range(views)]
    draw = Draw(1, 0, torch.arange(6))
    with pretend():
        mine = there(draw)
    ours = on_device(lambda *x: built.finish(x, mine), *cuts)
    assert apart(ours, built.finish(tuple(cuts), draw)) < 0.01


@pytest.mark.parametrize(("side", "size"), [(96, 64), (160, 128), (130, 224)])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_large_images_are_cropped_without_a_resize_of_bytes(side, size, interpolation, squares):
    """Against torchvision, as small ones on the CPU: a rounding for bytes, 0.01 for floats."""
    images = sized(squares, 20, side)
    stage = RandomResizedCrop(size, interpolation=interpolation)
    drawn = numbers(stage, 20)
    boxes = torch.stack(stage.boxes(drawn, *[torch.full((20,), side)] * 2), dim=1).tolist()
    for given, bound in ((images, 1.01), (unit(images), 0.01)):
        mode = MODES[interpolation]
        theirs = torch.stack(
            [
                tv.resized_crop(image, *box, [size, size], mode)
                for image, box in zip(given, boxes, strict=True)
            ]
        )
        with pretend():
            row = drawn.to(DEVICE)
        (ours,) = on_device(lambda x, r=row: (apply(stage, x, r),), given)
        if given is images:
            ours, theirs = ours / 255, theirs / 255
        assert apart((ours,), (theirs,)) < bound


@pytest.mark.parametrize(
    "strengths", [(0.8, 0.8, 0.8, 0.2), (0.4, 0, 0.4, 0.2), (0.8, 0.8, 0.8, 0), (0, 0, 0, 0.5)]
)
def test_jitter_goes_through_the_operators_in_order(strengths, squares):
    images = unit(sized(squares, 40, 24)).repeat(5, 1, 1, 1)
    stage = ColourJitter(*strengths, p=0.8)
    drawn = numbers(stage, 200)
    orders, factors = stage.orders(drawn).tolist(), stage.factors(drawn).tolist()
    assert len({tuple(order) for order in orders}) >= (24 if all(strengths) else 4)
    theirs = []
    for image, order, factor in zip(images, orders, factors, strict=True):
        for kind in order:
            image = OPERATORS[kind](image, factor[kind]) if kind >= 0 else image
        theirs.append(image)
    with pretend():
        row = drawn.to(DEVICE)
    (ours,) = on_device(lambda x: (apply(stage, x, row),), images)
    assert apart((ours,), (torch.stack(theirs),)) < 0.02
    still = (drawn[:, 0] >= 0.8).nonzero()[:, 0]
    assert len(still) > 20
    assert torch.equal(ours[still], images[still])


STAGES = [Greyscale(0.5), Solarise(p=0.5), Translation(4), HorizontalFlip(), ColourSpace("ycbcr")]


@pytest.mark.parametrize("stage", [*STAGES, ColourSpace("lab"), GaussianBlur(5)], ids=str)
def test_other_stages_are_the_same_to_the_bit(stage, squares):
    images = sized(squares, 40, 40)
    drawn = numbers(stage, 40)
    with pretend():
        row = drawn.to(DEVICE)
    (ours,) = on_device(lambda x: (apply(stage, x, row),), images)
    theirs = apply(stage, images, drawn)
    assert ours.dtype == theirs.dtype
    assert torch.equal(ours, theirs)


RANGES = [
    ((0.08, 1.0), (3 / 4, 4 / 3)),
    ((0.3, 1.0), (0.7, 1.4)),
    ((0.25, 0.25), (1.0, 1.0)),  # sides of 33 are halved: in the middle of two numbers
    ((0.001, 1.2), (0.1, 9.0)),
    ((0.9, 1.0), (3.0, 4.0)),  # never fits a square
]


@pytest.mark.parametrize(("scale", "ratio"), RANGES)
def test_boxes_in_whole_numbers_are_those_of_float64(scale, ratio):
    stage = RandomResizedCrop(8, scale, ratio)
    drawn = numbers(stage, 20_000)
    for sides in ((32, 32), (33, 33), (96, 96), (500, 333), (40_000, 50_000)):
        lengths = (torch.full((len(drawn),), side) for side in sides)
        for one, other in zip(
            stage.boxes(drawn, *lengths), stage.whole_boxes(drawn, sides), strict=True
        ):
            assert torch.equal(one, other)


def test_geometry_in_any_order_does_not_wait(squares):
    images, draw = sized(squares, 12, 48), Draw(0, 0, torch.arange(12))
    with pretend():
        mine = there(draw)
    for stages in (
        (HorizontalFlip(), Translation(5), HorizontalFlip(), RandomResizedCrop(20)),
        (Resize(56), RandomResizedCrop(20), HorizontalFlip()),
        (RandomResizedCrop(40), HorizontalFlip(), RandomResizedCrop(24)),
    ):
        built = Pipeline(stages, views=3).build((3, 48, 48))
        ours = on_device(lambda x, built=built: built(x, mine), images)
        assert apart(ours, built(images, draw)) < 0.01


def test_a_batch_larger_than_the_budget_goes_in_parts(squares, monkeypatch):
    images, draw = sized(squares, 20, 64), Draw(0, 0, torch.arange(20))
    large, small = (Pipeline((RandomResizedCrop(side),)) for side in (64, 32))
    built = MultiView((large, small)).build((3, 64, 64))
    with pretend():
        mine = there(draw)
    together = on_device(lambda x: built(x, mine), images)
    monkeypatch.setattr(stage_plan, "BUDGET", 7 * 3 * 64 * 64)
    apart_ = on_device(lambda x: built(x, mine), images)
    assert all(torch.equal(a, b) for a, b in zip(together, apart_, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_views_of_a_device_are_fp32_under_its_autocast(name, squares):
    images, draw = sized(squares, 8, 64), Draw(0, 0, torch.arange(8))
    built = getattr(pipelines, f"{name}_views")(64).build((3, 64, 64))
    with pretend():
        mine = there(draw)

    def half(x):
        with torch.autocast(DEVICE.type, torch.bfloat16):
            return built(x, mine) + built.evaluation(x, mine)

    ours = on_device(lambda x: built(x, mine) + built.evaluation(x, mine), images)
    assert all(torch.equal(a, b) for a, b in zip(ours, on_device(half, images), strict=True))


def counted(built, images, draw):
    """Operators of the first step and of a later one, from memory and from files."""
    _both.cache_clear()  # what is fixed is made in the first step
    with pretend() as seen:
        x, mine = images.to(DEVICE), there(draw)
        cuts = tuple(
            torch.zeros(len(images), *shape, dtype=torch.uint8, device=DEVICE)
            for shape in built.shapes
        )
        found = []
        for make in (lambda: built(x, mine), lambda: built.finish(cuts, mine)):
            for _ in range(2):
                seen.clear()
                make()
                assert not seen.waits
                found.append(sum(seen.operators.values()))
    return tuple(found)


MOST = 400


def test_operators_of_simclr_at_224_pixels(squares):
    """As many for any batch that fits the budget."""
    images = sized(squares, 8, 256)
    built = pipelines.simclr_views(224).build((3, 256, 256))
    two, eight = (counted(built, images[:n], Draw(0, 0, torch.arange(n))) for n in (2, 8))
    assert two == eight
    assert max(two) <= MOST


@pytest.mark.full
def test_operators_of_simclr_at_224_pixels_for_256_images():
    images = torch.randint(256, (256, 3, 256, 256), dtype=torch.uint8)
    built = pipelines.simclr_views(224).build((3, 256, 256))
    assert max(counted(built, images, Draw(0, 0, torch.arange(256)))) <= MOST
