"""The five contracts: what a part's settings are and what building them gives.

Settings are frozen dataclasses with a class attribute `part` that names their place.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol, runtime_checkable

from counterpoint.framework.batch_samples import Samples
from counterpoint.framework.records import (
    Comparison,
    Cuts,
    Draw,
    Encoded,
    Images,
    Maps,
    Picture,
    Scores,
    Shape,
    Terms,
    View,
)
from counterpoint.framework.world import World


@runtime_checkable
class BuiltViews(Protocol):
    """(1) A: x -> v^a, v^+, ... with the shape that each view will have.

    Pictures of varying size take two steps: `cut` where they are read, `finish` on the device.
    `evaluation` gives the views that are embedded, without chance.
    """

    @property
    def shapes(self) -> tuple[Shape, ...]: ...

    def __call__(self, images: Images, draw: Draw, /) -> tuple[View, ...]: ...

    def cut(self, pictures: Sequence[Picture], draw: Draw, /) -> Cuts: ...

    def finish(self, cuts: Cuts, draw: Draw, /) -> tuple[View, ...]: ...

    @property
    def evaluation(self) -> "BuiltViews": ...


@runtime_checkable
class BuiltEncoder(Protocol):
    """(2) f: v -> M, for all views at once, so that they share batch statistics."""

    def __call__(self, views: tuple[View, ...], /) -> tuple[Maps, ...]: ...


@runtime_checkable
class BuiltExtraction(Protocol):
    """(3) M -> r^a, R^+, R^-.

    Anchors and candidates are this rank's; the similarity gathers the candidates of all.
    """

    def __call__(
        self, encoded: Encoded, samples: Samples, world: World, /
    ) -> tuple[Comparison, ...]: ...


@runtime_checkable
class BuiltSimilarity(Protocol):
    """(4) Phi: r^a, r -> s."""

    @property
    def bound(self) -> float | None: ...

    def __call__(self, comparison: Comparison, world: World, /) -> Scores: ...


@runtime_checkable
class BuiltLoss(Protocol):
    """(5) L: s^+, s^- -> the terms of the loss.

    A loss that is a sum over anchors gives this rank's terms and their count, and needs nothing of
    the world. Any other brings together what it needs by `world.sum` or `world.gather`, and gives
    the whole loss with a count of 1 on every rank.
    """

    @property
    def needs_negatives(self) -> bool: ...

    def __call__(self, scores: Scores, world: World, /) -> Terms: ...


@runtime_checkable
class Views(Protocol):
    """Settings of part (1), a protocol: how views are made of images."""

    part: ClassVar[Literal["views"]]

    def build(self, image: Shape, /) -> BuiltViews:
        """Return what makes the views of images of this shape, (channels, height, width)."""


@runtime_checkable
class Encoder(Protocol):
    """Settings of part (2), a protocol: which network turns views into feature maps."""

    part: ClassVar[Literal["encoder"]]

    def build(self, views: tuple[Shape, ...], /) -> BuiltEncoder:
        """Return the network for views of these shapes."""


@runtime_checkable
class Extraction(Protocol):
    """Settings of part (3), a protocol: which vectors are compared with which."""

    part: ClassVar[Literal["extraction"]]

    def build(self, maps: tuple[tuple[Shape, ...], ...], /) -> BuiltExtraction:
        """Return what turns feature maps of these shapes, by view and level, into comparisons."""


@runtime_checkable
class Similarity(Protocol):
    """Settings of part (4), a protocol: how two vectors are scored."""

    part: ClassVar[Literal["similarity"]]

    def build(self, anchor: int, candidate: int, /) -> BuiltSimilarity:
        """Return what scores anchors and candidates of these widths."""


@runtime_checkable
class Loss(Protocol):
    """Settings of part (5), a protocol: what is minimised."""

    part: ClassVar[Literal["loss"]]

    def build(self, bound: float | None, /) -> BuiltLoss:
        """Return the loss of scores whose size is at most `bound`, where that is known."""
