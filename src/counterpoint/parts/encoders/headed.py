"""Encoders around encoders: a projection head as the last map, and an encoder for each view."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from counterpoint.framework import Encoder, PartError
from counterpoint.framework.codec import LATER
from counterpoint.framework.contracts import BuiltEncoder
from counterpoint.framework.optional import (
    Architecture,
    architecture_of,
    backbone_of,
    library_lines,
    made_by,
    probe_of,
    without_head,
)
from counterpoint.framework.records import Maps, Shape, View
from counterpoint.parts.encoders.momentum_encoder import refuse_twin
from counterpoint.parts.heads import LastNorm, perceptron


@dataclass(frozen=True, slots=True, kw_only=True)
class Headed:
    """Another encoder with a projection head behind it, whose output is one more, last map.

    MoCo, BYOL and CMC compare the output of a head that belongs to the encoder: it has a
    momentum twin, and a queue or a bank keeps its output. The map before it is evaluated.

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> headed = Headed(of=NarrowResNet(widths=(8,), blocks=(1,)), out=4)
    >>> (maps,) = headed.build(((3, 16, 16),))((torch.zeros(2, 3, 16, 16),))
    >>> [tuple(m.shape) for m in maps]
    [(2, 8, 8, 8), (2, 4, 1, 1)]
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    out: int = 128
    hidden: int | Literal["width"] | tuple[int, ...] | None = None
    """Width of the hidden layer; "width" is that of the encoder, as in MoCo v2's code
    (moco/builder.py, dim_mlp); None has none: one linear map, as in CMC and MoCo v1. A tuple has a
    hidden layer for each width: (2048, 2048) for SimSiam, (8192, 8192) for Barlow Twins."""
    norm: bool = False
    """Batch norm in the hidden layers (BYOL); MoCo v2 has none."""
    last_norm: LastNorm = field(default="none", metadata=LATER)
    """Batch norm behind the last layer: plain is SimSiam's, without weights."""
    map: int = field(default=-1, metadata=LATER)
    """The map that the head reads: -2 of an encoder with a head reads what that one reads."""
    places: bool = field(default=False, metadata=LATER)
    """Run the head at every place of the map instead of on their mean, as 1x1 convolutions do
    (DenseCL): the new map has as many places."""

    def build(self, views: tuple[Shape, ...]) -> "HeadedEncoder":
        encoder = self.of.build(views)
        assert isinstance(encoder, nn.Module)
        refuse_twin(encoder, inside="Headed", do="write MomentumEncoder(of=Headed(of=...))")
        with torch.device("meta"):
            dry = self.of.build(views)
            maps = dry(tuple(torch.empty(2, *shape) for shape in views))[0]
        if not -len(maps) <= self.map < len(maps):
            raise PartError(
                "encoder",
                got=f"a head on map {self.map}",
                needs=f"one of the {len(maps)} maps of {self.of}",
            )
        width = maps[self.map].shape[1]
        hidden = tuple(width if layer == "width" else int(layer) for layer in self._hidden())
        widths = (width, *hidden, self.out)
        if not hidden and self.last_norm == "none":
            head: nn.Module = nn.Linear(width, self.out)
        else:
            head = perceptron(widths, norm=self.norm, last_norm=self.last_norm, inplace=True)
        return HeadedEncoder(encoder, head, at_places if self.places else on_means, level=self.map)

    def _hidden(self) -> tuple[int | str, ...]:
        if self.hidden is None:
            return ()
        return self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)

    def __str__(self) -> str:
        widths = "-".join(map(str, (*self._hidden(), self.out)))
        last = "" if self.last_norm == "none" else f", {self.last_norm} norm at the end"
        name = f"{'dense ' if self.places else ''}head"
        on = "" if self.map == -1 else f" on map {self.map}"
        return f"{self.of} -> {name} {widths}{' with norm' if self.norm else ''}{last}{on}"


RunHead = Callable[[nn.Module, list[Tensor]], list[Tensor]]
"""Runs a head on one map of every view, and returns a new map of each."""


def at_places(head: nn.Module, maps: list[Tensor]) -> list[Tensor]:
    """Run a head on the vector at every place of every view.

    >>> [tuple(m.shape) for m in at_places(nn.Linear(3, 5), [torch.zeros(2, 3, 4, 4)])]
    [(2, 5, 4, 4)]
    """
    # Place after place: rows are whole batches one after the other, as batch norm in groups
    # expects them.
    rows = [one.permute(2, 3, 0, 1).flatten(0, 2) for one in maps]  # (h w b, c)
    projected = head(torch.cat(rows)).split([len(one) for one in rows])
    return [
        new.unflatten(0, (*one.shape[2:], len(one))).permute(2, 3, 0, 1)
        for one, new in zip(maps, projected, strict=True)
    ]


def on_means(head: nn.Module, maps: list[Tensor]) -> list[Tensor]:
    """Run a head on the mean of all places of every view.

    >>> [tuple(m.shape) for m in on_means(nn.Linear(3, 5), [torch.zeros(2, 3, 4, 4)])]
    [(2, 5, 1, 1)]
    """
    return at_places(head, [one.mean(dim=(2, 3), keepdim=True) for one in maps])


class HeadedEncoder(nn.Module):
    """A built encoder and its head, or heads, and how they are run."""

    def __init__(
        self, encoder: nn.Module, head: nn.Module, run: RunHead = on_means, *, level: int = -1
    ) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head
        self.run, self.level = run, level

    @property
    def probe(self) -> int:
        """The map that is evaluated: the one of the encoder inside; the head's is behind it."""
        inside = probe_of(self.encoder)
        return inside if inside >= 0 else inside - 1

    @property
    def backbone(self) -> nn.Module:
        """The network without the head, with the key names of its library."""
        return backbone_of(self.encoder)

    @property
    def made_by(self) -> str | None:
        """The line of its library that makes the same backbone."""
        return made_by(self.encoder)

    @property
    def without_head(self) -> nn.Module:
        """The encoder, whose last map is evaluated."""
        return without_head(self.encoder)

    @property
    def architecture(self) -> Architecture | None:
        """The network of timm that the backbone's weights load into."""
        return architecture_of(self.encoder)

    @property
    def library_lines(self) -> str | None:
        """Lines of Python that make the same backbone."""
        return library_lines(self.encoder)

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        every: tuple[Maps, ...] = self.encoder(views)
        heads = self.run(self.head, [maps[self.level] for maps in every])
        return tuple((*maps, new) for maps, new in zip(every, heads, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class PerView:
    """An encoder for each view, for views that differ in kind (CMC).

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> one = NarrowResNet(widths=(8,), blocks=(1,))
    >>> encoder = PerView(of=(one, one)).build(((1, 16, 16), (2, 16, 16)))
    >>> grey, colour = encoder((torch.zeros(2, 1, 16, 16), torch.zeros(2, 2, 16, 16)))
    >>> grey[-1].shape == colour[-1].shape
    True
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: tuple[Encoder, ...]

    def build(self, views: tuple[Shape, ...]) -> "PerViewEncoder":
        if len(views) != len(self.of):
            raise PartError(
                "encoder",
                got=f"{len(self.of)} encoders for {len(views)} views",
                needs="one for each view",
            )
        encoders = [one.build((v,)) for one, v in zip(self.of, views, strict=True)]
        for encoder in encoders:
            assert isinstance(encoder, nn.Module)
            refuse_twin(encoder, inside="PerView", do="write MomentumEncoder(of=PerView(of=...))")
        return PerViewEncoder(encoders)

    def __str__(self) -> str:
        return " | ".join(str(encoder) for encoder in self.of)


class PerViewEncoder(nn.Module):
    """Built encoders, one for each view."""

    needs_all_views = True

    def __init__(self, encoders: list[BuiltEncoder]) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(e for e in encoders if isinstance(e, nn.Module))
        self.probe = probe_of(encoders[0])

    @property
    def without_head(self) -> nn.Module:
        """The encoders without their heads."""
        return PerViewEncoder([without_head(encoder) for encoder in self.encoders])

    def forward(self, views: tuple[Tensor, ...]) -> tuple[Maps, ...]:
        if len(views) != len(self.encoders):
            raise PartError(
                "encoder",
                got=f"views: {len(views)}, encoders: {len(self.encoders)}",
                needs="one for each encoder, at evaluation too",
                do="use views that are all there at evaluation, such as ChannelSplit",
            )
        pairs = zip(self.encoders, views, strict=True)
        return tuple(encoder((view,))[0] for encoder, view in pairs)
