"""The normalisation inside of views: which it is, and another one in its place."""

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from counterpoint.framework.pixels import Pixels
from counterpoint.parts.views.colour import Normalise
from counterpoint.parts.views.colour_space import ColourSpace
from counterpoint.parts.views.geometry import CentreCrop, Resize
from counterpoint.parts.views.pipeline import Pipeline

Settings = TypeVar("Settings")


def with_pixels(views: Settings, pixels: Pixels) -> Settings:
    """Return views in which red, green and blue are normalised as some weights want them.

    It is replaced for training and for evaluation alike. Stages in another colour space keep
    theirs.

    >>> from counterpoint.parts.views.pipelines import simclr_views
    >>> print(with_pixels(simclr_views(32), Pixels((0.5,) * 3, (0.5,) * 3)).stages[-1])
    normalise 0.5/0.5
    """
    if isinstance(views, Normalise):
        same = len(views.mean) == len(pixels.mean)
        return replace(views, mean=pixels.mean, std=pixels.std) if same else views
    if isinstance(views, tuple):
        if any(isinstance(stage, ColourSpace) for stage in views):
            return views
        every = tuple(with_pixels(one, pixels) for one in views)
        return views if every == views else type(views)(every)
    if not is_dataclass(views) or isinstance(views, type):
        return views
    before = {field.name: getattr(views, field.name) for field in fields(views)}
    after = {name: with_pixels(value, pixels) for name, value in before.items()}
    changed = {name: value for name, value in after.items() if value != before[name]}
    return replace(views, **changed) if changed else views


def pixels_of(views: object, *, origin: str) -> Pixels | None:
    """Return the normalisation of views; None without one of red, green and blue.

    >>> from counterpoint.parts.views.pipelines import cmc_views, simclr_views
    >>> print(pixels_of(simclr_views(64), origin="SimCLR"), pixels_of(cmc_views(64), origin="CMC"))
    (x - [0.43 0.42 0.39]) / [0.27 0.26 0.27] None
    """
    found = next(_normalisations(views), None)
    return None if found is None else Pixels(found.mean, found.std, origin=origin)


def usual_view(views: Pipeline, pixels: Pixels, *, side: int) -> Pipeline:
    """Return views whose evaluation is the one that some weights were evaluated with."""
    if pixels.share is None or pixels.interpolation is None:
        return views
    short = math.floor(side / pixels.share)
    return replace(views, evaluation=(Resize(short, pixels.interpolation), CentreCrop(side)))


def _normalisations(settings: object) -> Iterator[Normalise]:
    if isinstance(settings, Normalise):
        yield settings
    elif isinstance(settings, tuple):
        if not any(isinstance(stage, ColourSpace) for stage in settings):
            for one in settings:
                yield from _normalisations(one)
    elif is_dataclass(settings) and not isinstance(settings, type):
        for field in fields(settings):
            yield from _normalisations(getattr(settings, field.name))
