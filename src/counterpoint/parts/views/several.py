"""Views by several pipelines: BYOL's two recipes, multi-crop, the channels of a colour space."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch

from counterpoint.framework import Draw, PartError
from counterpoint.framework.records import Cuts, Images, Picture, Shape, View
from counterpoint.parts.views.cutting import Chain
from counterpoint.parts.views.pipeline import BuiltPipeline, Pipeline, cut_by
from counterpoint.parts.views.window import Lengths


@dataclass(frozen=True, slots=True)
class MultiView:
    """The views of several pipelines, one after the other; the first pipeline's view is evaluated.

    Large crops and many small ones (multi-crop), or two pipelines that differ (BYOL).

    >>> from counterpoint.parts.views import RandomResizedCrop
    >>> large = Pipeline((RandomResizedCrop(32),), views=2)
    >>> small = Pipeline((RandomResizedCrop(16, scale=(0.05, 0.4)),), views=4)
    >>> [side for _, side, _ in MultiView((large, small)).build((3, 64, 64)).shapes]
    [32, 32, 16, 16, 16, 16]
    """

    part: ClassVar[Literal["views"]] = "views"

    pipelines: tuple[Pipeline, ...]

    def build(self, image: Shape) -> "BuiltMultiView":
        built, place = [], 0
        for pipeline in self.pipelines:
            places = tuple(range(place, place + pipeline.views))
            built.append(replace(pipeline.build(image), places=places))
            place += pipeline.views
        return BuiltMultiView(tuple(built))

    def __str__(self) -> str:
        return " + ".join(str(pipeline) for pipeline in self.pipelines)


@dataclass(frozen=True, slots=True)
class BuiltMultiView:
    """Several built pipelines, with views numbered through."""

    pipelines: tuple[BuiltPipeline, ...]

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(shape for one in self.pipelines for shape in one.shapes)

    @property
    def evaluation(self) -> BuiltPipeline:
        return self.pipelines[0].evaluation

    def __call__(self, images: Images, draw: Draw) -> tuple[View, ...]:
        return tuple(view for one in self.pipelines for view in one(images, draw))

    def cut(self, pictures: Sequence[Picture], draw: Draw) -> Cuts:
        together = all(one.cuts_together for one in self.pipelines)
        return cut_by(self.chains, pictures, draw, together=together)

    def chains(self, heights: Lengths, widths: Lengths, draw: Draw) -> tuple[Chain, ...]:
        """Return the windows of every view of every pipeline on pictures of these sizes."""
        every = (one.chains(heights, widths, draw) for one in self.pipelines)
        return tuple(chain for chains in every for chain in chains)

    def finish(self, cuts: Cuts, draw: Draw) -> tuple[View, ...]:
        views: list[View] = []
        for one in self.pipelines:
            mine = cuts[len(views) : len(views) + len(one.places)]
            views += one.finish(mine, draw)
        return tuple(views)

    def words(self, draw: Draw, image: Shape) -> tuple[list[str], ...]:
        return tuple(said for one in self.pipelines for said in one.words(draw, image))


@dataclass(frozen=True, slots=True)
class ChannelSplit:
    """The channels of each view as views of their own: lightness and colour in CMC.

    >>> from counterpoint.parts.views import ColourSpace
    >>> lightness = ChannelSplit(Pipeline((ColourSpace("lab"),), views=1), channels=(1, 2))
    >>> lightness.build((3, 32, 32)).shapes
    ((1, 32, 32), (2, 32, 32))
    """

    part: ClassVar[Literal["views"]] = "views"

    pipeline: Pipeline
    channels: tuple[int, ...] = (1, 2)
    """How many channels go into each view: L, then a and b."""

    def build(self, image: Shape) -> "BuiltChannelSplit":
        built = self.pipeline.build(image)
        if len(built.shape) != 3 or sum(self.channels) != built.shape[0]:
            raise PartError(
                "views",
                got=f"views {built.shape} to be split into {self.channels} channels",
                needs=f"numbers whose sum is {built.shape[0]}",
            )
        return BuiltChannelSplit(built, self.channels)

    def __str__(self) -> str:
        return f"{self.pipeline}, split {':'.join(str(c) for c in self.channels)}"


@dataclass(frozen=True, slots=True)
class BuiltChannelSplit:
    """A built pipeline whose views are split."""

    pipeline: BuiltPipeline
    channels: tuple[int, ...]

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple((c, *shape[1:]) for shape in self.pipeline.shapes for c in self.channels)

    @property
    def evaluation(self) -> "BuiltChannelSplit":
        return replace(self, pipeline=self.pipeline.evaluation)

    def __call__(self, images: Images, draw: Draw) -> tuple[View, ...]:
        return self._split(self.pipeline(images, draw))

    def cut(self, pictures: Sequence[Picture], draw: Draw) -> Cuts:
        return self.pipeline.cut(pictures, draw)

    def finish(self, cuts: Cuts, draw: Draw) -> tuple[View, ...]:
        return self._split(self.pipeline.finish(cuts, draw))

    def words(self, draw: Draw, image: Shape) -> tuple[list[str], ...]:
        said = self.pipeline.words(draw, image)
        return tuple(words for words in said for _ in self.channels)

    def _split(self, views: tuple[View, ...]) -> tuple[View, ...]:
        parts = (torch.split(view, list(self.channels), dim=1) for view in views)
        return tuple(part.contiguous() for split in parts for part in split)
