"""The runs of `scripts/bench collapse`: ways to fail, and every method as it should be."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from counterpoint.data import ArraySource
from counterpoint.framework import Method, Model
from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, SEVEN, training_of
from counterpoint.parts.encoders import AMDIMEncoder, CPCResNet, NarrowResNet
from counterpoint.parts.losses import Regression
from counterpoint.parts.similarity import Cosine, Dot, ProjectedCosine
from counterpoint.parts.views import HorizontalFlip, Pipeline, Resize
from counterpoint.parts.views.pipelines import CIFAR10

IMAGES, BATCH, EPOCHS, SEED = 4_096, 64, 2, 0
RESNET = NarrowResNet(widths=(16, 32, 64))
PATCHES = AMDIMEncoder(width=8, rkhs=64, depth=2)
CPC = CPCResNet(blocks=(1, 1, 1), bottlenecks=(16, 32, 32), widths=(32, 64, 128), stem=16, stride=2)
ENCODERS = {"amdim": PATCHES, "yadim": PATCHES, "cpc": CPC}
FINE = ("starting", "healthy", "slow")
"""Words that do not call a run a failure."""
UNCALLED = ("healthy", "slow")
"""The right words for a run that learns."""
NOT_ASKED: tuple[str, ...] = ()
"""For a run that is shown, and of which no word is asked."""


@dataclass(frozen=True)
class Case:
    """One run: what is trained, on what, and which words are right."""

    method: Method
    training: Training
    source: ArraySource
    right: tuple[str, ...]
    prepare: Callable[[Model], None] = lambda _model: None


def small(name: str) -> Method:
    """The `-small` method with a still smaller encoder, so that a run takes half a minute."""
    return METHODS[f"{name}-small"](ENCODERS.get(name, RESNET), size=32)


def recipe(name: str, *, rate: float = 1.0, **settings: Any) -> Training:
    """Its recipe for small batches: half of the rate that it has at its own batch."""
    own = training_of(f"{name}-small")
    lr = own.scaled_lr / 2 * 256 / BATCH * rate
    return replace(own, epochs=EPOCHS, batch=BATCH, lr=lr, seed=SEED, **settings)


def cases(source: ArraySource) -> dict[str, Case]:
    """Every run by its name: failures first."""
    called = ("collapsing", "collapsed", "broken", "trivial")
    simclr, byol, side = small("simclr"), small("byol"), 20
    blind = byol.swap(similarity=Cosine(tau=1.0))
    eager = blind.swap(encoder=replace(blind.encoder, decay=0.0))
    same = simclr.swap(views=Pipeline((Resize(side), CIFAR10)))
    flips = simclr.swap(views=Pipeline((Resize(side), HorizontalFlip(0.5), CIFAR10)))
    sharp = simclr.swap(similarity=ProjectedCosine(hidden=512, tau=0.001))
    grey = ArraySource("grey", torch.full_like(source.images, 128), source.labels)
    one = torch.randint(
        256, (len(source), 3, 1, 1), generator=torch.Generator().manual_seed(SEED)
    ).to(torch.uint8)
    flat = ArraySource("flat", one.expand_as(source.images).contiguous(), source.labels)
    rows = {
        "BYOL without its predictor": Case(blind, recipe("byol"), source, called),
        "... and a twin of decay 0": Case(eager, recipe("byol"), source, called),
        "SimCLR, learning rate x 100": Case(simclr, recipe("simclr", rate=100), source, called),
        "SimCLR, learning rate x 1,000": Case(simclr, recipe("simclr", rate=1000), source, called),
        "CPC, SGD, learning rate 1,000": Case(
            small("cpc"), replace(recipe("cpc"), optimiser="sgd", lr=4000.0), source, called
        ),
        "YADIM, dot product, learning rate x 1,000": Case(
            narrow("yadim"), faster("yadim", 1000), source, called
        ),
        "SimCLR, identical views": Case(same, recipe("simclr"), source, called),
        "SimCLR, views by flips only": Case(flips, recipe("simclr"), source, called),
        "SimCLR, temperature 0.001": Case(sharp, recipe("simclr"), source, called),
        "SimCLR, all images the same": Case(simclr, recipe("simclr"), grey, called),
        "SimCLR, images of one colour": Case(simclr, recipe("simclr"), flat, called),
        "SimCLR, weights of zero": Case(simclr, recipe("simclr"), source, called, zero),
        # Meant to be called slow, and it is not in two epochs: shown as such.
        "SimCLR, learning rate / 1,000": Case(
            simclr, recipe("simclr", rate=0.001), source, NOT_ASKED
        ),
    }
    healthy = {f"{n}-small": Case(small(n), recipe(n), source, UNCALLED) for n in SEVEN}
    return rows | healthy | presets(source) | dots(source)


def presets(source: ArraySource) -> dict[str, Case]:
    """Every other method by its name, with its recipe at a small batch."""
    return {
        name: Case(narrow(name), short(name), source, UNCALLED)
        for name in METHODS
        if name not in {f"{n}-small" for n in SEVEN}
    }


def dots(source: ArraySource) -> dict[str, Case]:
    """Every method that takes one with a plain dot product, which has neither tau nor a bound."""
    plain = {name: narrow(name).swap(similarity=Dot()) for name in METHODS}
    return {
        f"{name}, dot product": Case(method, short(name), source, UNCALLED)
        for name, method in plain.items()
        if not isinstance(method.loss, Regression) and method != narrow(name)
    } | {
        f"{name}, a ResNet, dot product": Case(
            METHODS[name](RESNET, size=32).swap(similarity=Dot()), short(name), source, UNCALLED
        )
        for name in ("amdim-paper", "amdim-small", "yadim", "yadim-small")
    }


def narrow(name: str) -> Method:
    """A method by its name with an encoder so small that a run takes a minute."""
    return METHODS[name](ENCODERS.get(name.split("-")[0], RESNET), size=32)


def short(name: str) -> Training:
    """Its recipe at a small batch, with the rate that goes with it."""
    return replace(training_of(name), epochs=EPOCHS, batch=BATCH, seed=SEED)


def zero(model: Model) -> None:
    """Let every convolution begin at zero, as a wrong initialisation would."""
    for module in model.encoder.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.zeros_(module.weight)


def faster(name: str, rate: float) -> Training:
    """Its recipe at a small batch, with a rate that is far too high."""
    training = short(name)
    return replace(training, lr=training.lr * rate)
