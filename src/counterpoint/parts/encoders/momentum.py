"""An encoder with a slow twin that gives the candidates (MoCo, BYOL)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import Encoder, Momentum, PartError
from counterpoint.framework.records import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentumEncoder:
    """Another encoder and its exponential moving average."""

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    decay: float = 0.999  # facebookresearch/moco, main_moco.py, --moco-m

    rises: bool = False
    """Let the decay rise to 1 by a cosine over the run (BYOL)."""

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise PartError("encoder", got=f"decay={self.decay}", needs="a share from 0 to 1")

    def build(self, views: tuple[Shape, ...]) -> Momentum:
        online = self.of.build(views)
        assert isinstance(online, nn.Module)
        return Momentum(online, decay=self.decay, rises=self.rises)

    def __str__(self) -> str:
        return f"{self.of}, twin {self.decay:g}{' rising to 1' if self.rises else ''}"
