"""A pipeline A = (a_1, ..., a_N) and the views it draws of every image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import Draw, PartError
from counterpoint.framework.optional import needs_one_size
from counterpoint.framework.precision import full_fp32
from counterpoint.framework.records import Cuts, Images, Picture, Shape, View
from counterpoint.parts.views.cutting import Chain, cut, stacked
from counterpoint.parts.views.geometry import CentreCrop, Resize
from counterpoint.parts.views.stage import Geometric, Numbers, Random, Stage
from counterpoint.parts.views.stage_plan import Plan, make_plan, through, unfused
from counterpoint.parts.views.view_draws import uniform_draws
from counterpoint.parts.views.window import Lengths, whole_image, whole_of


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages that are applied independently to make each view of an image.

    >>> from counterpoint.parts.views import HorizontalFlip, RandomResizedCrop
    >>> two = Pipeline((RandomResizedCrop(32), HorizontalFlip()))
    >>> print(two)
    2 x (random crop 0.08-1 to 32 -> flip 0.5)
    >>> views = two.build((3, 64, 64))
    >>> views.shapes
    ((3, 32, 32), (3, 32, 32))
    >>> draw = Draw(seed=0, epoch=0, index=torch.arange(4))
    >>> [tuple(view.shape) for view in views(torch.zeros(4, 3, 64, 64, dtype=torch.uint8), draw)]
    [(4, 3, 32, 32), (4, 3, 32, 32)]
    """

    part: ClassVar[Literal["views"]] = "views"

    stages: tuple[Stage, ...]
    views: int = 2
    evaluation: tuple[Stage, ...] | None = None
    """What replaces the random geometry at evaluation; None resizes to the side of a view."""
    once: tuple[Stage, ...] = ()
    """Stages before these, drawn once for an image and shared by its views."""

    def __post_init__(self) -> None:
        if self.views < 1:
            raise PartError("views", got=f"views={self.views}", needs="at least one view")

    def build(self, image: Shape) -> "BuiltPipeline":
        stages = self.once + self.stages
        shape = through(stages, image)
        places = tuple(range(self.views))
        return BuiltPipeline(stages, places, len(self.once), shape, self._quiet(image))

    def _quiet(self, image: Shape) -> "BuiltPipeline":
        """Build the one view that is embedded: fixed geometry, and the stages without chance."""
        moving = tuple(s for s in self.once + self.stages if isinstance(s, Geometric))
        side = through(moving, image)[-1]
        fixed = (Resize(side), CentreCrop(side)) if self.evaluation is None else self.evaluation
        every = self.once + self.stages
        kept = (s for s in every if _certain(s) and not isinstance(s, Geometric))
        stages = (*fixed, *kept)
        return BuiltPipeline(stages, (0,), 0, through(stages, image), None)

    def __str__(self) -> str:
        first = "".join(f"{stage} -> " for stage in self.once)
        return f"{first}{self.views} x ({' -> '.join(str(stage) for stage in self.stages)})"


def _certain(stage: Stage) -> bool:
    """Whether a stage does the same to every view: its one number is whether it happens at all."""
    return stage.numbers == 0 or (stage.numbers == 1 and getattr(stage, "p", None) == 1)


@dataclass(frozen=True, slots=True)
class BuiltPipeline:
    """A pipeline for images of one shape, or for pictures that are cut to one.

    Views are made in fp32, whatever precision is asked for around them; they come in torch's
    default, which is that of the weights.
    """

    stages: tuple[Stage, ...]
    places: tuple[int, ...]
    """The number of each view: with it goes its stream of random numbers."""
    shared: int
    """How many of the stages are drawn once for all views."""
    shape: Shape
    quiet: "BuiltPipeline | None"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return (self.shape,) * len(self.places)

    @property
    def evaluation(self) -> "BuiltPipeline":
        """The views that are embedded: no chance in them."""
        return self if self.quiet is None else self.quiet

    @torch.no_grad()
    def __call__(self, images: Images, draw: Draw) -> tuple[View, ...]:
        with full_fp32(images.device):
            drawn = self.drawn(draw)
            every = whole_of(images, views=len(self.places))
            windows = self._plan.windows(every, drawn)
            made = self._plan.carry_out(images, windows, drawn)
        return self._views(made)

    @torch.no_grad()
    def unfused(self, images: Images, draw: Draw) -> tuple[View, ...]:
        """Return the same views by one stage after the other."""
        every = torch.cat([images] * len(self.places))
        with full_fp32(images.device):
            made = unfused(self.stages, every, self.drawn(draw))
        return self._views(made)

    def cut(self, pictures: Sequence[Picture], draw: Draw) -> Cuts:
        """Decode pictures of any size and cut the views' boxes out, as bytes."""
        # Geometry alone decides what is cut out; colours come later, in `finish`.
        return cut_by(self.chains, pictures, draw, together=self.cuts_together)

    @property
    def cuts_together(self) -> bool:
        """Whether boxes are drawn for pictures of several sizes at once.

        A stage may have to know the size of each, and without chance nothing is gained.
        """
        geometry = [stage for stage in self.stages if isinstance(stage, Geometric)]
        chance = any(stage.numbers for stage in geometry)
        return chance and not any(needs_one_size(stage) for stage in geometry)

    @torch.no_grad()
    def finish(self, cuts: Cuts, draw: Draw) -> tuple[View, ...]:
        """Do what is left to do with the cuts, in one batch on their device."""
        with full_fp32(cuts[0].device):
            made = self._plan.carry_out(torch.cat(cuts), (), self.drawn(draw))
        return self._views(made)

    def chains(self, heights: Lengths, widths: Lengths, draw: Draw) -> tuple[Chain, ...]:
        """Return the windows of every view on pictures of these sizes."""
        views = len(self.places)
        every = whole_image(heights.repeat(views), widths.repeat(views))
        windows = self._plan.windows(every, self.drawn(draw))
        rows = [slice(v * len(heights), (v + 1) * len(heights)) for v in range(views)]
        return tuple(tuple(window.rows(r) for window in windows) for r in rows)

    def words(self, draw: Draw, image: Shape) -> tuple[list[str], ...]:
        """Say in words what each view does to each image of a shape."""
        said: list[list[str]] = [[] for _ in range(len(draw.index) * len(self.places))]
        for stage, numbers in zip(self.stages, self.drawn(draw), strict=True):
            words = stage.words(numbers, image) if isinstance(stage, Random) else []
            for row, word in zip(said, words, strict=False):
                row.extend([word] if word else [])
            image = stage.shape(image)
        lines = ["  ".join(row) for row in said]
        step = len(draw.index)
        return tuple(lines[start : start + step] for start in range(0, len(lines), step))

    def drawn(self, draw: Draw) -> tuple[Numbers, ...]:
        """Draw the numbers of all stages, for the samples of each view in turn."""
        counts = [stage.numbers for stage in self.stages]
        return uniform_draws(draw, views=self.places, counts=counts, shared=self.shared)

    def _views(self, made: Float[Tensor, "row ..."]) -> tuple[View, ...]:
        """Divide what was made into views, in the precision that the weights are in."""
        return made.to(torch.get_default_dtype()).chunk(len(self.places))

    @property
    def _plan(self) -> Plan:
        return make_plan(self.stages)


def cut_by(
    chains: Callable[[Lengths, Lengths, Draw], Sequence[Chain]],
    pictures: Sequence[Picture],
    draw: Draw,
    *,
    together: bool,
) -> Cuts:
    """Cut pictures by the chains of their sizes, all of them together or each by itself."""
    if together:
        return cut(pictures, chains(*sizes_of(pictures), draw))
    rows = (Draw(draw.seed, draw.epoch, row) for row in draw.index.split(1))
    pairs = zip(pictures, rows, strict=True)
    each = (cut([picture], chains(*sizes_of([picture]), row)) for picture, row in pairs)
    return tuple(stacked(views) for views in zip(*each, strict=True))


def sizes_of(pictures: Sequence[Picture]) -> tuple[Tensor, Tensor]:
    """Return the heights and the widths of pictures."""
    sizes = torch.tensor([(p.height, p.width) for p in pictures], dtype=torch.int64)
    return sizes[:, 0], sizes[:, 1]
