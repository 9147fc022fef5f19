"""An encoder with a slow twin that gives the candidates (MoCo, BYOL)."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import nn

from counterpoint.framework import Encoder, Momentum, PartError, twins
from counterpoint.framework.codec import LATER
from counterpoint.framework.records import Maps, Shape, View


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentumEncoder:
    r"""Another encoder and its exponential moving average, which encodes the candidates.

    $$ \theta' \leftarrow m \theta' + (1 - m) \theta $$

    after each update, with the decay m. No gradient reaches the twin.

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> pair = MomentumEncoder(of=NarrowResNet(widths=(8,), blocks=(1,)), decay=0.99)
    >>> built = pair.build(((3, 16, 16),))
    >>> (maps,) = built.target((torch.zeros(2, 3, 16, 16),))
    >>> maps[-1].requires_grad
    False
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    decay: float = 0.999  # facebookresearch/moco, main_moco.py, --moco-m

    rises: bool = False
    """Let the decay rise to 1 by a cosine over the run (BYOL)."""
    views_apart: bool = False
    """Run each view by itself, so that a batch norm never sees two views together: BYOL's code
    calls its networks once for each view (deepmind-research, byol_experiment.py)."""
    targets: int | None = field(default=None, metadata=LATER)
    """How many of the first views the twin encodes, as DINO's does large crops only; None: all."""

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise PartError("encoder", got=f"decay={self.decay}", needs="a share from 0 to 1")

    def build(self, views: tuple[Shape, ...]) -> "TwinEncoder":
        online = self.of.build(views)
        assert isinstance(online, nn.Module)
        refuse_twin(online, inside="MomentumEncoder", do="take the inner one away")
        if self.targets is not None and not 1 <= self.targets <= len(views):
            raise PartError(
                "encoder",
                got=f"targets={self.targets} of {len(views)} views",
                needs="a number of views from 1 on, or None for all",
            )
        return TwinEncoder(online, self)

    def __str__(self) -> str:
        apart = ", views apart" if self.views_apart else ""
        some = "" if self.targets is None else f", of the first {self.targets} views"
        return f"{self.of}, twin {self.decay:g}{' rising to 1' if self.rises else ''}{apart}{some}"


class TwinEncoder(Momentum):
    """The built pair."""

    def __init__(self, online: nn.Module, settings: MomentumEncoder) -> None:
        super().__init__(online, decay=settings.decay, rises=settings.rises)
        self.apart, self.targets = settings.views_apart, settings.targets

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return self._encoded(self.online, views)

    @torch.no_grad()
    def target(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return self._encoded(self.twin, views[: self.targets])

    def _encoded(self, network: nn.Module, views: tuple[View, ...]) -> tuple[Maps, ...]:
        if self.apart:
            return tuple(network((view,))[0] for view in views)
        maps: tuple[Maps, ...] = network(views)
        return maps


def refuse_twin(encoder: nn.Module, *, inside: str, do: str) -> None:
    """Refuse a twin that another encoder is around: it would follow and never be asked."""
    if next(twins(encoder), None) is not None:
        raise PartError(
            "encoder",
            got=f"a momentum twin inside {inside}, which would never ask it",
            needs="one twin, outermost",
            do=do,
        )
