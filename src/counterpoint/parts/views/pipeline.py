"""A pipeline A = (a_1, ..., a_N) and the views it draws of every image."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import torch

from counterpoint.framework import Draw, PartError
from counterpoint.framework.records import Images, Shape, View
from counterpoint.parts.views.geometry import Batch, Numbers, Resize, Resized
from counterpoint.parts.views.randomness import uniform


@runtime_checkable
class Stage(Protocol):
    """a_n: how many random numbers it needs, what shape it gives and what it does with both."""

    @property
    def numbers(self) -> int: ...

    def shape(self, image: Shape, /) -> Shape: ...

    def __call__(self, images: Batch, numbers: Numbers, /) -> Resized: ...


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages, applied independently to give each view of an image."""

    part: ClassVar[Literal["views"]] = "views"

    stages: tuple[Stage, ...]
    views: int = 2
    evaluation: int | None = None
    """Side of the evaluation view; None takes the side of the training views."""

    def __post_init__(self) -> None:
        if self.views < 1:
            raise PartError("views", got=f"views={self.views}", needs="at least one view")

    def build(self, image: Shape) -> "BuiltPipeline":
        shape = _through(self.stages, image)
        return BuiltPipeline(self.stages, (shape,) * self.views, self.quiet(shape))

    def quiet(self, view: Shape) -> tuple[Stage, ...]:
        """List the stages of the evaluation view: a resize, and those without chance."""
        side = self.evaluation or view[-1]
        return (Resize(side), *(stage for stage in self.stages if stage.numbers == 0))

    def __str__(self) -> str:
        return f"{self.views} x ({' -> '.join(str(stage) for stage in self.stages)})"


@dataclass(frozen=True, slots=True)
class BuiltPipeline:
    """A pipeline for images of one shape."""

    stages: tuple[Stage, ...]
    shapes: tuple[Shape, ...]
    quiet: tuple[Stage, ...]

    @torch.no_grad()
    def __call__(self, images: Images, draw: Draw) -> tuple[View, ...]:
        x = images.float() / 255
        return tuple(_draw(self.stages, x, draw, view) for view in range(len(self.shapes)))

    @torch.no_grad()
    def evaluation(self, images: Images) -> View:
        """Give the one view that is embedded: no chance in it."""
        index = torch.zeros(len(images), dtype=torch.int64, device=images.device)
        return _draw(self.quiet, images.float() / 255, Draw(0, 0, index), view=0)


def _draw(stages: tuple[Stage, ...], images: Batch, draw: Draw, view: int) -> Resized:
    """Apply the stages; stage n of each view has its own stream of numbers."""
    for n, stage in enumerate(stages):
        images = stage(images, uniform(draw, view=view, stage=n, count=stage.numbers))
    return images


def _through(stages: tuple[Stage, ...], image: Shape) -> Shape:
    for stage in stages:
        image = stage.shape(image)
    return image
