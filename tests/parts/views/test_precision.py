"""Views are fp32, bit for bit, whatever precision is asked for around them."""

import io
from contextlib import contextmanager

import pytest
import torch
from rich.console import Console

from counterpoint import ArraySource, NarrowResNet, Training, pretrain, simclr
from counterpoint.framework import Draw
from counterpoint.parts.views import MultiView, Pipeline, RandomResizedCrop, pipelines
from parts.views.decoded import Decoded

NAMES = ("simclr", "moco", "byol", "amdim", "cpc", "yadim", "cmc")


@contextmanager
def coarse_products():
    """What Lightning suggests on a GPU; CPUs with bf16 units follow it too."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


PRECISIONS = {
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "coarse products": coarse_products,
}


def without_numba(monkeypatch):
    for module in ("colour", "blur"):
        monkeypatch.setattr(f"counterpoint.parts.views.{module}.compiled_for", lambda _: None)


def every_view(built, images):
    """What training, files and evaluation see."""
    draw = Draw(3, 1, torch.arange(len(images)))
    pictures = [Decoded(image) for image in images]
    cuts, quiet = built.cut(pictures, draw), built.evaluation
    views = built(images, draw) + built.finish(cuts, draw) + quiet(images, draw)
    return cuts + views + quiet.finish(quiet.cut(pictures, draw), draw)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("name", [*NAMES, "multi-crop"])
def test_views_are_fp32_under_any_precision(name, size, eager, cifar, monkeypatch):
    """Under bf16 autocast, and with products in bf16; at 64 pixels with blur."""
    if eager:
        without_numba(monkeypatch)
    large, small = (Pipeline((RandomResizedCrop(side),)) for side in (size, size // 2))
    views = (
        MultiView((large, small))
        if name == "multi-crop"
        else getattr(pipelines, f"{name}_views")(size)
    )
    images = torch.nn.functional.interpolate(cifar.train.images[:12], (size, size))
    built = views.build((3, size, size))
    expected = every_view(built, images)
    for precision, around in PRECISIONS.items():
        with around():
            seen = every_view(built, images)
            still = torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cpu")
        assert still == (("highest", True) if precision == "autocast" else ("medium", False))
        for one, other in zip(seen, expected, strict=True):
            assert one.dtype == other.dtype
            assert torch.equal(one, other), precision


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_views_for_weights_of_another_precision_are_those_of_fp32(dtype, cifar):
    images = torch.nn.functional.interpolate(cifar.train.images[:12], (64, 64))
    built = pipelines.simclr_views(64).build((3, 64, 64))
    expected = every_view(built, images)[2:]
    torch.set_default_dtype(dtype)  # as Lightning does around a step in bf16-true and 64-true
    try:
        seen = every_view(built, images)[2:]
    finally:
        torch.set_default_dtype(torch.float32)
    for one, other in zip(seen, expected, strict=True):
        assert torch.equal(one, other.to(dtype))


def test_a_run_in_bf16_blurs_without_numba(tmp_path, monkeypatch):
    without_numba(monkeypatch)
    pixels = torch.randint(256, (32, 3, 64, 64), dtype=torch.uint8)
    training = Training(batch=16, precision="bf16-mixed", optimiser="adam", lr=1e-3)
    pretrain(
        simclr(NarrowResNet(), size=64),
        ArraySource("noise", pixels),
        out=tmp_path / "run",
        training=training,
        steps=1,
        health=False,
        accelerator="cpu",
        console=Console(file=io.StringIO()),
    )
    assert (tmp_path / "run" / "run.json").is_file()
