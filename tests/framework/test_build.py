"""Compositions that work, and those that are refused before any data is touched."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch

from counterpoint.framework import Draw, Momentum, PartError, contrast
from counterpoint.methods import simclr
from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet, ResNet, Timm
from counterpoint.parts.extraction import NearestAnchors, Pooled, Queue, StopGradient
from counterpoint.parts.losses import NCE, Regression, Triplet
from counterpoint.parts.similarity import Bilinear, Cosine, Dot, ProjectedCosine, ScaledDot
from counterpoint.parts.views import ColourJitter, HorizontalFlip, Normalise, Pipeline
from toy import LastToFirst, TinyEncoder, tiny_method

SMALL = NarrowResNet(widths=(8, 16), blocks=(1, 1))

SWAPS = {
    "views": Pipeline((HorizontalFlip(),), views=3),
    "encoder": TinyEncoder(),
    "extraction": Pooled(map=0, pool="max"),
    "similarity": ScaledDot(),
    "loss": Triplet(),
}


@pytest.mark.parametrize("part", SWAPS)
def test_a_swap_of_each_part_builds_and_trains_two_steps(part):
    torch.manual_seed(0)
    model = simclr(SMALL).swap(**{part: SWAPS[part]}).build(image=(3, 32, 32))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    images = torch.randint(0, 256, (8, 3, 32, 32), dtype=torch.uint8)
    index = torch.arange(8)
    before = [p.clone() for p in model.parameters()]
    for epoch in range(2):
        loss = contrast(model, model.views(images, Draw(0, epoch, index)), index)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert loss.isfinite()
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@dataclass(frozen=True, slots=True)
class TwoWidths:
    """An extraction whose comparisons do not fit one similarity."""

    part: ClassVar[str] = "extraction"

    def build(self, maps):
        return self

    def __call__(self, encoded, samples, world):
        (one,) = Pooled(map=0)(encoded, samples, world)
        (two,) = Pooled(map=1)(encoded, samples, world)
        return one, two


def jitter():
    return Pipeline((ColourJitter(0.4, 0.4, 0.4, 0.1),))


WRONG = {
    "one view where two are needed": (
        lambda: simclr(SMALL).swap(views=Pipeline((HorizontalFlip(),), views=1)),
        "extraction: got 1 view of each image, needs at least two",
    ),
    "jitter of one channel": (
        lambda: (tiny_method(views=jitter()), (1, 8, 8)),
        "views: got 1 channels for colour jitter, needs red, green and blue",
    ),
    "means of three channels for four": (
        lambda: (tiny_method(views=Pipeline((Normalise((0.5,) * 3, (0.5,) * 3),))), (4, 8, 8)),
        "views: got 4 channels, 3 means",
    ),
    "a map that the encoder does not have": (
        lambda: simclr(SMALL).swap(extraction=Pooled(map=-3)),
        "extraction: got map=-3, needs one of the encoder's 2 maps",
    ),
    "anchors and candidates of different width": (
        lambda: tiny_method(extraction=LastToFirst(), similarity=Dot()),
        "similarity: got anchors of width 6 and candidates of width 4",
    ),
    "comparisons of different width": (
        lambda: tiny_method(extraction=TwoWidths()),
        r"extraction: got comparisons of widths \[\(4, 4\), \(6, 6\)\]",
    ),
    "a regression on scores without limit": (
        lambda: simclr(SMALL).swap(loss=Regression()),
        "loss: got scores with .* needs a plain cosine",
    ),
    "a view smaller than one patch of the encoder": (
        lambda: simclr(Timm("vit_tiny_patch16_224"), size=8),
        "encoder: got vit_tiny_patch16_224 on views of 3 x 8 x 8",
    ),
    "a queue without a momentum twin": (
        lambda: simclr(SMALL).swap(extraction=Queue(of=Pooled(), size=32)),
        "extraction: got a queue behind an encoder without a momentum twin",
    ),
    "nothing that trains the encoder": (
        lambda: simclr(SMALL).swap(
            extraction=NearestAnchors(of=StopGradient(of=Pooled()), size=32)
        ),
        "extraction: got anchors and candidates without a gradient",
    ),
    "a temperature of zero": (
        lambda: simclr(SMALL).swap(similarity=Cosine(tau=0.0)),
        "similarity: got tau=0.0, needs tau > 0",
    ),
    "a sum of positives over its own positive": (
        lambda: simclr(SMALL).swap(loss=NCE(numerator="sum")),
        "loss: got numerator='sum'",
    ),
    "parts in each other's place": (
        lambda: simclr(SMALL).swap(loss=Dot()),
        "loss: got Dot, which is part 'similarity'",
    ),
    "an encoder that does not exist": (
        lambda: simclr(ResNet("resnet20")),
        "encoder: got 'resnet20', needs one of",
    ),
    "a head of no width": (
        lambda: simclr(SMALL).swap(similarity=ProjectedCosine(out=0)),
        "similarity: got hidden=None, out=0",
    ),
    "no view at all": (
        lambda: simclr(SMALL).swap(views=replace(simclr().views, views=0)),
        "views: got views=0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_composition_names_its_part(name):
    compose, complaint = WRONG[name]

    def build():
        made = compose()
        method, image = made if isinstance(made, tuple) else (made, (3, 40, 40))
        method.build(image=image)

    with pytest.raises(PartError, match=complaint):
        build()


def test_building_touches_no_memory_before_the_check(monkeypatch):
    """The wrong composition fails on the meta device: no real module is ever made."""
    made = []
    original = TinyEncoder.build
    monkeypatch.setattr(
        TinyEncoder, "build", lambda self, views: made.append(original(self, views)) or made[-1]
    )
    with pytest.raises(PartError):
        tiny_method(extraction=LastToFirst(), similarity=Dot()).build(image=(3, 8, 8))
    (only,) = made
    assert {p.device.type for p in only.parameters()} == {"meta"}


def test_a_queue_behind_a_twin_builds():
    method = simclr(MomentumEncoder(of=SMALL)).swap(extraction=Queue(of=Pooled(), size=32))
    assert method.build(image=(3, 32, 32)).extraction.keys.shape == (32, 16)


def test_bilinear_brings_widths_together():
    model = tiny_method(extraction=LastToFirst(), similarity=Bilinear()).build(image=(3, 8, 8))
    assert model.similarity.p.weight.shape == (4, 6)


def test_the_twin_follows_and_gives_the_candidates():
    model = tiny_method().build(image=(3, 8, 8))
    model.encoder = Momentum(model.encoder, decay=0.5)
    views = tuple(torch.randn(2, 4, 3, 8, 8))
    encoded = model.encode(views)
    assert encoded.target is not encoded.online
    assert not encoded.target[0][-1].requires_grad
    with torch.no_grad():
        model.encoder.online.first.weight.zero_()
    before = model.encoder.twin.first.weight.clone()
    model.encoder.step()
    torch.testing.assert_close(model.encoder.twin.first.weight, before / 2)
