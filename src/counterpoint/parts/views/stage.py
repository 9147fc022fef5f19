"""What a stage is: one of four kinds, by what the plan can make of it."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from counterpoint.framework.records import Shape
from counterpoint.parts.views.fast import all_at_once
from counterpoint.parts.views.window import Window

Pixels = Shaped[Tensor, "batch channel height width"]
"""Bytes from 0 to 255, or floats from 0 to 1."""

Unit = Float[Tensor, "batch channel height width"]
"""Floats from 0 to 1."""

Seen = Shaped[Tensor, "batch ..."]
Numbers = Float[Tensor, "batch number"]
"""Uniform on [0, 1), one row for every image."""


@runtime_checkable
class Stage(Protocol):
    """A stage of a pipeline: how many random numbers it needs, and what shape it gives.

    What it does to images is one of four methods: `look` moves pixels by changing a window,
    `change_` changes values in place, `__call__` returns views of another shape, and `rearrange`
    does so by random numbers.
    """

    @property
    def numbers(self) -> int:
        """The number of random numbers that each image needs."""

    def shape(self, image: Shape, /) -> Shape:
        """Return the shape of a view of an image of this shape."""


@runtime_checkable
class Geometric(Stage, Protocol):
    """A stage that only moves pixels: it changes the window, or returns None where it cannot."""

    def look(self, window: Window, numbers: Numbers, /) -> Window | None: ...


@runtime_checkable
class InPlace(Stage, Protocol):
    """A stage that keeps the shape and works in the memory that it is given."""

    def change_(self, images: Unit, numbers: Numbers, /) -> None: ...


@runtime_checkable
class Reshaping(Stage, Protocol):
    """A stage that returns another kind of view and draws no random numbers."""

    def __call__(self, images: Unit, /) -> Seen: ...


@runtime_checkable
class Rearranging(Stage, Protocol):
    """A stage that returns another kind of view, which random numbers decide."""

    def rearrange(self, images: Unit, numbers: Numbers, /) -> Seen: ...


@runtime_checkable
class Random(Stage, Protocol):
    """A stage that can say in words what it does to each image."""

    def words(self, numbers: Numbers, image: Shape, /) -> list[str]: ...


def change_chosen_(
    images: Unit,
    chosen: Bool[Tensor, " batch"],
    change: Callable[..., Tensor],
    *settings: Shaped[Tensor, "batch ..."],
) -> None:
    """Put the changed images in the place of the chosen ones; each has its own settings."""
    if all_at_once(images):
        images.copy_(torch.where(chosen.view(-1, 1, 1, 1), change(images, *settings), images))
    elif bool(chosen.all()):
        images.copy_(change(images, *settings))
    elif bool(chosen.any()):
        place = chosen.nonzero()[:, 0]
        some, *mine = (rows.index_select(0, place) for rows in (images, *settings))
        images.index_copy_(0, place, change(some, *mine).expand_as(some))


def between(numbers: Tensor, low: float, high: float) -> Tensor:
    """Spread numbers of [0, 1) over [low, high).

    >>> import torch
    >>> between(torch.tensor([0.0, 0.5]), 2.0, 4.0)
    tensor([2., 3.])
    """
    return low + numbers * (high - low)
