"""How a pipeline is carried out: geometry as one resampling, the rest in place, in chunks.

`unfused` applies the same stages one after the other: slower, and what the plan is judged by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from typing import cast

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from counterpoint.framework.records import Shape
from counterpoint.parts.views.fast import all_at_once
from counterpoint.parts.views.resampling import resample
from counterpoint.parts.views.stage import (
    Geometric,
    InPlace,
    Numbers,
    Pixels,
    Rearranging,
    Reshaping,
    Seen,
    Stage,
    Unit,
)
from counterpoint.parts.views.window import Window, whole_of, whole_sized

Drawn = Sequence[Float[Tensor, "row _"]]
"""The numbers of every stage; a row for every view of every image."""

CHUNK = 1 << 19  # values that are worked on together: about what a core's caches hold
BUDGET = 1 << 27  # the same on a device: 680 views of 256 pixels together, in some 2.5 GB


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
                seen = whole_sized(windows[-1].size, len(numbers), numbers.device)
                looked = stage.look(seen, numbers)
                assert looked is not None
                windows.append(looked)
            else:
                windows[-1] = looked
        return tuple(windows)

    def carry_out(
        self, images: Pixels, windows: Sequence[Window], drawn: Drawn
    ) -> Float[Tensor, "row ..."]:
        """Return the views of images: the windows, then the stages in place.

        Row r of the windows and numbers is a view of image r modulo their count. The work goes
        chunk by chunk, so that what was just written is still in the caches when it is read;
        on a device all views together, as far as memory allows.
        """
        numbers, count = drawn[len(self.geometric) :], len(drawn[0])
        view: Tensor | None = None
        for rows, levels, mine, own in _chunks(images, windows, drawn):
            for window in mine:
                levels = resample(levels, window)
            if view is None:
                view = torch.empty(count, *levels.shape[1:], device=images.device)
            chunk = view[rows].copy_(levels.to(torch.float32)).div_(255)
            for stage, random in zip(self.in_place, own[len(self.geometric) :], strict=False):
                stage.change_(chunk, random)
        assert view is not None
        return unfused(self.last, view, numbers[len(self.in_place) :])


def _chunks(
    images: Pixels, windows: Sequence[Window], drawn: Drawn
) -> Iterator[tuple[slice, Pixels, Sequence[Window], Drawn]]:
    """Return the rows that are worked on together, with their images, windows and numbers."""
    count = len(drawn[0])
    sides = (*images.shape[-2:], *(side for w in windows for side in w.size or ()))
    most = BUDGET if all_at_once(images) else CHUNK
    many = max(1, most // (images.shape[1] * max(sides) ** 2))
    if all_at_once(images) and len(images) < count:
        images = torch.cat([images] * (count // len(images)))
    if len(images) == count <= many:
        yield slice(count), images, windows, drawn
        return
    for first, start in product(range(0, count, len(images)), range(0, len(images), many)):
        levels = images[start : start + many]
        rows = slice(first + start, first + start + len(levels))
        yield rows, levels, [w.rows(rows) for w in windows], [numbers[rows] for numbers in drawn]


def make_plan(stages: Sequence[Stage]) -> Plan:
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
    if isinstance(stage, Rearranging):
        return stage.rearrange(unit(images), numbers)
    assert isinstance(stage, Reshaping)
    return stage(unit(images))


def unit(images: Pixels) -> Unit:
    """Return a copy as floats from 0 to 1."""
    if images.dtype.is_floating_point:
        return images.clone()
    return images.float().div_(255)


def through(stages: Sequence[Stage], image: Shape) -> Shape:
    """Follow the shape of one image through the stages."""
    for stage in stages:
        image = stage.shape(image)
    return image
