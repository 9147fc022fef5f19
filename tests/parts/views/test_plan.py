"""The plan gives what the stages give one by one; a sample's views are its own, bit for bit."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from counterpoint.framework import Draw, PartError
from counterpoint.parts.views import (
    CentreCrop,
    ColourJitter,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    MultiView,
    Normalise,
    Pipeline,
    RandomResizedCrop,
    Resize,
    Translation,
    pipelines,
)
from parts.views.decoded import Decoded

NAMES = ("simclr", "moco", "byol", "amdim", "cpc", "yadim", "cmc")
SIZES = (32, 64, 128, 224)
SIDES = ((12, 12), (20, 15))  # of photos


def made(name, size, image):
    return getattr(pipelines, f"{name}_views")(size).build(image)


def parts_of(built):
    """The pipelines inside, which have an unfused path."""
    if hasattr(built, "pipelines"):
        return built.pipelines
    return (getattr(built, "pipeline", built),)


@pytest.fixture(scope="module")
def squares(photos):
    """Photos as squares of 160, bytes."""
    return torch.cat([torch.nn.functional.interpolate(photo, (160, 160)) for photo in photos])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("eager", [False, True])
def test_fused_equals_unfused(cifar, squares, name, size, eager, monkeypatch):
    """Over 1,024 small images, and photos for the larger sizes; in levels of 255."""
    if eager:
        monkeypatch.setattr("counterpoint.parts.views.colour.compiled_for", lambda _: None)
        monkeypatch.setattr("counterpoint.parts.views.blur.compiled_for", lambda _: None)
    images = (
        cifar.train.images[:1024] if size == 32 else squares[: {64: 96, 128: 48, 224: 24}[size]]
    )
    draw = Draw(5, 2, torch.arange(len(images)))
    for built in parts_of(made(name, size, tuple(images.shape[1:]))):
        fused, unfused = built(images, draw), built.unfused(images, draw)
        for one, other in zip(fused, unfused, strict=True):
            assert one.shape == (len(images), *built.shape)
            assert 255 * (one - other).abs().max() < 0.01


ORDERS = [
    (HorizontalFlip(), RandomResizedCrop(24)),
    (RandomResizedCrop(24), HorizontalFlip(), CentreCrop(17)),
    (Translation(4), HorizontalFlip(), RandomResizedCrop(40, interpolation="bicubic")),
    (HorizontalFlip(), Translation(5), HorizontalFlip(), CentreCrop(21)),
    (Resize(48), RandomResizedCrop(20), HorizontalFlip()),
    (CentreCrop(25), HorizontalFlip(), RandomResizedCrop(32)),
    (ColourJitter(0.4, 0.4, 0.4, 0.1), RandomResizedCrop(24), HorizontalFlip()),
    (Greyscale(), GaussianBlur(5), HorizontalFlip(), Normalise((0.5,) * 3, (0.2,) * 3)),
]


@pytest.mark.parametrize("stages", ORDERS, ids=lambda stages: "-".join(map(str, stages)))
@pytest.mark.parametrize("side", [32, 100])
def test_stages_fuse_in_any_order(cifar, squares, stages, side):
    images = cifar.train.images[:300] if side == 32 else squares[:40, :, :side, :side]
    built = Pipeline(stages, views=3).build((3, side, side))
    draw = Draw(1, 4, torch.arange(len(images)))
    for one, other in zip(built(images, draw), built.unfused(images, draw), strict=True):
        assert 255 * (one - other).abs().max() <= 1.01  # a rounding to levels less


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("name", "side"), [("simclr", 32), ("byol", 64), ("cmc", 33), ("yadim", 32)]
)
def test_a_sample_is_the_same_in_any_batch(photos, name, side, threads, eager, monkeypatch):
    """Batches of 1, 2, 3, ..., in any order, at odd sizes too: bit for bit."""
    if eager:
        monkeypatch.setattr("counterpoint.parts.views.colour.compiled_for", lambda _: None)
        monkeypatch.setattr("counterpoint.parts.views.blur.compiled_for", lambda _: None)
    images = torch.cat([torch.nn.functional.interpolate(p, (side, side)) for p in photos[:67]])
    built = made(name, side, (3, side, side))
    index = torch.arange(67) + 2**33
    whole = built(images, Draw(3, 1, index))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        order = torch.randperm(67, generator=torch.Generator().manual_seed(0))
        for rows in order.split([1, 2, 3, 5, 7, 11, 13, 25]):
            some = built(images[rows], Draw(3, 1, index[rows]))
            for together, alone in zip(whole, some, strict=True):
                assert torch.equal(together[rows], alone)
    finally:
        torch.set_num_threads(before)


def test_large_images_are_the_same_in_any_batch(squares):
    built = made("simclr", 224, (3, 160, 160))
    index = torch.arange(12)
    whole = built(squares[:12], Draw(3, 1, index))
    for rows in index.flip(0).split([1, 4, 7]):
        some = built(squares[rows], Draw(3, 1, rows))
        for together, alone in zip(whole, some, strict=True):
            assert torch.equal(together[rows], alone)


def test_memory_layout_does_not_matter(squares):
    images, draw = squares[:20], Draw(0, 0, torch.arange(20))
    last = images.contiguous(memory_format=torch.channels_last)
    for size in (64, 128):
        built = Pipeline((RandomResizedCrop(size), HorizontalFlip())).build((3, 160, 160))
        for one, other in zip(built(images, draw), built(last, draw), strict=True):
            assert 255 * (one - other).abs().max() <= 1.01  # torch's two ways round differently


def test_views_differ_and_epochs_too(cifar):
    images = cifar.train.images[:8]
    built = made("simclr", 32, (3, 32, 32))
    first, second = built(images, Draw(0, 0, torch.arange(8)))
    later, _ = built(images, Draw(0, 1, torch.arange(8)))
    assert all(not torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert all(not torch.equal(a, b) for a, b in zip(first, later, strict=True))


def test_amdims_flip_is_shared_and_can_be_by_view(cifar):
    draw = Draw(0, 0, torch.arange(200))
    for shared, apart in ((True, 0), (False, 100)):
        built = pipelines.amdim_views(32, shared_flip=shared).build((3, 32, 32))
        one, other = built.words(draw, (3, 32, 32))
        different = sum(("flip" in a) != ("flip" in b) for a, b in zip(one, other, strict=True))
        assert abs(different - apart) <= (0 if shared else 40)


def test_cmc_splits_one_crop_into_lightness_and_colour(cifar):
    built = made("cmc", 32, (3, 32, 32))
    draw = Draw(0, 0, torch.arange(6))
    lightness, colour = built(cifar.train.images[:6], draw)
    (whole,) = built.pipeline(cifar.train.images[:6], draw)
    assert torch.equal(torch.cat([lightness, colour], dim=1), whole)
    assert [shape[0] for shape in built.shapes] == [1, 2]
    grey = cifar.train.images[:6, :1].expand(-1, 3, -1, -1).contiguous()
    _, colour = built(grey, draw)
    neutral = (0 - torch.tensor(pipelines.LAB.mean[1:])) / torch.tensor(pipelines.LAB.std[1:])
    assert (colour - neutral[:, None, None]).abs().max() < 1e-3


def test_multi_crop_numbers_its_views_through(cifar):
    large = Pipeline((RandomResizedCrop(32, scale=(0.4, 1.0)),), views=2)
    little = Pipeline((RandomResizedCrop(12, scale=(0.05, 0.4)),), views=4)
    views = MultiView((large, little)).build((3, 32, 32))
    images, draw = cifar.train.images[:5], Draw(0, 0, torch.arange(5))
    drawn = views(images, draw)
    assert [tuple(v.shape) for v in drawn] == [(5, 3, 32, 32)] * 2 + [(5, 3, 12, 12)] * 4
    assert views.pipelines[1].places == (2, 3, 4, 5)
    assert len({v.sum().item() for v in drawn}) == 6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_evaluation_has_no_chance_and_no_flip(squares, cifar, name, size):
    images = cifar.train.images[:3] if size == 32 else squares[:3]
    built = made(name, size, tuple(images.shape[1:]))
    quiet = built.evaluation
    one = quiet(images, Draw(0, 0, torch.arange(3)))
    other = quiet(images, Draw(9, 7, torch.arange(3) + 50))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert [tuple(view.shape[1:]) for view in one] == list(quiet.shapes)
    mirrored = quiet(images.flip(-1), Draw(0, 0, torch.arange(3)))
    assert not all(torch.equal(a, b) for a, b in zip(one, mirrored, strict=True))


def test_printing_reads_like_the_paper():
    assert str(pipelines.yadim_views(32)) == (
        "2 x (flip 0.5 -> translate 4 p 0.8 -> jitter 0.4/0.4/0.4/0.2 p 0.8 -> grey 0.25 -> "
        "normalise -> patches 8 overlap 4)"
    )
    assert str(pipelines.amdim_views(32)).startswith("flip 0.5 -> 2 x (translate 4")
    assert str(pipelines.cmc_views(32)).endswith("-> Lab -> normalise), split 1:2")


def test_what_every_view_has_is_in_the_evaluation_too():
    """Grey with certainty, and a normalisation that the views share."""
    norm = Normalise((0.5,) * 3, (0.25,) * 3)
    grey = Pipeline((RandomResizedCrop(8), Greyscale(p=1.0), norm), views=1)
    shared = Pipeline((HorizontalFlip(),), views=1, once=(RandomResizedCrop(8), norm))
    images = torch.randint(0, 256, (4, 3, 12, 12), dtype=torch.uint8)
    (view,) = grey.build((3, 12, 12)).evaluation(images, Draw(0, 0, torch.arange(4)))
    assert torch.equal(view[:, 0], view[:, 1])
    (view,) = shared.build((3, 12, 12)).evaluation(images, Draw(0, 0, torch.arange(4)))
    assert float(view.min()) < -0.5
    sizes = [Decoded(torch.randint(0, 256, (3, *size), dtype=torch.uint8)) for size in SIDES]
    quiet, draw = grey.build((3, 12, 12)).evaluation, Draw(0, 0, torch.arange(2))
    (view,) = quiet.finish(quiet.cut(sizes, draw), draw)
    assert torch.equal(view[:, 0], view[:, 1])
    likely = Pipeline((RandomResizedCrop(8), Greyscale(p=0.9), norm), views=1)
    (view,) = likely.build((3, 12, 12)).evaluation(images, Draw(0, 0, torch.arange(4)))
    assert not torch.equal(view[:, 0], view[:, 1])


def test_photos_of_several_sizes_are_resized_before_what_is_drawn():
    """A flip, a shift or a crop behind a resize: each photo has its own size until then."""
    norm = Normalise((0.5,) * 3, (0.25,) * 3)
    fixed = Pipeline((Resize(10), CentreCrop(8), norm), views=1)
    moving = Pipeline((Resize(10), CentreCrop(8), Translation(2), HorizontalFlip(), norm))
    crop = Pipeline((RandomResizedCrop(8), HorizontalFlip(), norm), views=1)
    photos = [torch.randint(0, 256, (3, *size), dtype=torch.uint8) for size in SIDES]
    draw = Draw(0, 0, torch.tensor([5, 3]))
    for settings in (moving, MultiView((fixed, crop)), MultiView((crop, moving))):
        built = settings.build((3, 12, 12))
        views = built.finish(built.cut([Decoded(photo) for photo in photos], draw), draw)
        for row, photo in enumerate(photos):
            one = Draw(0, 0, draw.index[row : row + 1])
            alone = built(photo[None], one)
            for view, wanted in zip(views, alone, strict=True):
                assert torch.allclose(view[row], wanted[0], atol=4.1 / 255 / 0.25)
            again = built.finish(built.cut([Decoded(photo)], one), one)
            for view, wanted in zip(views, again, strict=True):
                assert torch.equal(view[row], wanted[0])


@dataclass(frozen=True)
class MiddleHalf:
    """A stage of one's own that has to know how large an image is."""

    numbers: ClassVar[int] = 0
    needs_one_size: ClassVar[bool] = True

    def shape(self, image):
        return (image[0], image[1] // 2, image[2] // 2)

    def look(self, window, _numbers):
        sides = window.one_size()
        if sides is None:
            return None
        height, width = (torch.full_like(window.top, side // 2) for side in sides)
        return window.box(height // 2, width // 2, height, width)


def test_a_stage_of_ones_own_may_need_photos_of_one_size():
    built = Pipeline((MiddleHalf(), RandomResizedCrop(8), HorizontalFlip())).build((3, 12, 12))
    photos = [torch.randint(0, 256, (3, *size), dtype=torch.uint8) for size in SIDES]
    draw = Draw(0, 0, torch.tensor([5, 3]))
    views = built.finish(built.cut([Decoded(photo) for photo in photos], draw), draw)
    for row, photo in enumerate(photos):
        alone = built(photo[None], Draw(0, 0, draw.index[row : row + 1]))
        for view, wanted in zip(views, alone, strict=True):
            assert torch.allclose(view[row], wanted[0], atol=1.01 / 255)


def test_photos_that_a_resize_leaves_of_several_sizes_are_refused():
    built = Pipeline((Resize(8), HorizontalFlip())).build((3, 12, 12))
    photos = [Decoded(torch.zeros(3, *size, dtype=torch.uint8)) for size in SIDES]
    with pytest.raises(PartError, match=r"varying size.*a resize and a central crop"):
        built.cut(photos, Draw(0, 0, torch.arange(2)))
