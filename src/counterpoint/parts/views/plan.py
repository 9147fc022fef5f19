"""How a pipeline is carried out: geometry as one resampling, the rest in place, in chunks.

`unfused` applies the same stages one after the other: slower, and what the plan is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from typing import cast

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from counterpoint.framework.records import Shape
from counterpoint.parts.views.resampling import resample
from counterpoint.parts.views.stage import (
    Geometric,
    InPlace,
    Numbers,
    Pixels,
    Reshaping,
    Seen,
    Stage,
    Unit,
)
from counterpoint.parts.views.window import Window, whole, whole_of

Drawn = Sequence[Float[Tensor, "row _"]]
"""The numbers of every stage; a row for every view of every image."""

CHUNK = 1 << 19  # values that are worked on together: about what a core's caches hold


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages in three runs: those that move pixels, those in place, and what is left."""

    geometric: tuple[Geometric, ...]
    in_place: tuple[InPlace, ...]
    last: tuple[Stage, ...]

    def windows(self, window: Window, drawn: Drawn) -> tuple[Window, ...]:
        """Fuse the geometry into as few windows as are exact: one, in training."""
        windows = [window]
        for stage, numbers in zip(self.geometric, drawn, strict=False):
            looked = stage.look(windows[-1], numbers)
            if looked is None:
                assert windows[-1].size is not None, f"{stage} cannot follow what came before"
                seen = torch.tensor(windows[-1].size, device=numbers.device)
                size = seen.expand(len(numbers), 2).unbind(dim=1)
                looked = stage.look(whole(*size), numbers)
                assert looked is not None
                windows.append(looked)
            else:
                windows[-1] = looked
        return tuple(windows)

    def carry_out(
        self, images: Pixels, windows: Sequence[Window], drawn: Drawn
    ) -> Float[Tensor, "row ..."]:
        """Give the views of images: the windows, then the stages in place.

        Row r of the windows and numbers is a view of image r modulo their count. The work goes
        chunk by chunk, so that what was just written is still in the caches when it is read.
        """
        numbers, count = drawn[len(self.geometric) :], len(drawn[0])
        sides = (*images.shape[-2:], *(side for w in windows for side in w.size or ()))
        many = max(1, CHUNK // (images.shape[1] * max(sides) ** 2))
        view: Tensor | None = None
        for first, start in product(range(0, count, len(images)), range(0, len(images), many)):
            levels = images[start : start + many]
            rows = slice(first + start, first + start + len(levels))
            for window in windows:
                levels = resample(levels, window.rows(rows))
            if view is None:
                view = torch.empty(count, *levels.shape[1:], device=images.device)
            chunk = view[rows].copy_(levels.to(torch.float32)).div_(255)
            for stage, mine in zip(self.in_place, numbers, strict=False):
                stage.change_(chunk, mine[rows])
        assert view is not None
        return unfused(self.last, view, numbers[len(self.in_place) :])


def plan(stages: Sequence[Stage]) -> Plan:
    """Find the three runs."""
    geometric = tuple(takewhile(lambda stage: isinstance(stage, Geometric), stages))
    rest = stages[len(geometric) :]
    in_place = tuple(takewhile(lambda stage: isinstance(stage, InPlace), rest))
    return Plan(
        cast("tuple[Geometric, ...]", geometric),
        cast("tuple[InPlace, ...]", in_place),
        tuple(rest[len(in_place) :]),
    )


def unfused(
    stages: Sequence[Stage], images: Shaped[Tensor, "row ..."], drawn: Drawn
) -> Float[Tensor, "row ..."]:
    """Apply stage after stage, each to the whole result of the one before."""
    seen: Seen = images
    for stage, numbers in zip(stages, drawn, strict=True):
        seen = apply(stage, seen, numbers)
    return seen if seen.dtype.is_floating_point else unit(seen)


def apply(stage: Stage, images: Pixels, numbers: Numbers) -> Seen:
    """Apply one stage to bytes or floats; what is given stays as it is."""
    if isinstance(stage, Geometric):
        window = stage.look(whole_of(images), numbers)
        assert window is not None
        return resample(images, window).to(images.dtype)
    if isinstance(stage, InPlace):
        copy = unit(images)
        stage.change_(copy, numbers)
        return copy
    assert isinstance(stage, Reshaping)
    return stage(unit(images))


def unit(images: Pixels) -> Unit:
    """Give a copy as floats from 0 to 1."""
    if images.dtype.is_floating_point:
        return images.clone()
    return images.float().div_(255)


def through(stages: Sequence[Stage], image: Shape) -> Shape:
    """Follow the shape of one image through the stages."""
    for stage in stages:
        image = stage.shape(image)
    return image
