"""An encoder with a slow twin that gives the candidates (MoCo, BYOL)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn

from counterpoint.framework import Encoder, Momentum, PartError, twins
from counterpoint.framework.records import Maps, Shape, View


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentumEncoder:
    """Another encoder and its exponential moving average."""

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    decay: float = 0.999  # facebookresearch/moco, main_moco.py, --moco-m

    rises: bool = False
    """Let the decay rise to 1 by a cosine over the run (BYOL)."""
    views_apart: bool = False
    """Run each view by itself, so that a batch norm never sees two views together: BYOL's code
    calls its networks once for each view (deepmind-research, byol_experiment.py)."""

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise PartError("encoder", got=f"decay={self.decay}", needs="a share from 0 to 1")

    def build(self, views: tuple[Shape, ...]) -> Momentum:
        online = self.of.build(views)
        assert isinstance(online, nn.Module)
        refuse_twin(online, inside="MomentumEncoder", do="take the inner one away")
        pair = ViewsApart if self.views_apart else Momentum
        return pair(online, decay=self.decay, rises=self.rises)

    def __str__(self) -> str:
        apart = ", views apart" if self.views_apart else ""
        return f"{self.of}, twin {self.decay:g}{' rising to 1' if self.rises else ''}{apart}"


class ViewsApart(Momentum):
    """An encoder and its twin that run view after view instead of all views as one batch."""

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return tuple(self.online((view,))[0] for view in views)

    @torch.no_grad()
    def target(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        return tuple(self.twin((view,))[0] for view in views)


def refuse_twin(encoder: nn.Module, *, inside: str, do: str) -> None:
    """Refuse a twin that another encoder is around: it would follow and never be asked."""
    if next(twins(encoder), None) is not None:
        raise PartError(
            "encoder",
            got=f"a momentum twin inside {inside}, which would never ask it",
            needs="one twin, outermost",
            do=do,
        )
