"""The candidates are targets: no gradient flows into them (SimSiam)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import Comparison, Encoded, Extraction, Samples, World
from counterpoint.framework.contracts import BuiltExtraction
from counterpoint.framework.optional import fit_samples, held_out
from counterpoint.framework.records import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class StopGradient:
    """Another extraction whose candidates are constants: only anchors train the encoder.

    This is the target of Chen and He 2021, algorithm 1, by the same weights and without a twin.

    >>> import torch
    >>> from counterpoint.framework import ALONE
    >>> from counterpoint.parts.extraction import Pooled
    >>> views = tuple((torch.randn(3, 4, 1, 1, requires_grad=True),) for _ in range(2))
    >>> stopped = StopGradient(of=Pooled()).build((((4, 1, 1),), ((4, 1, 1),)))
    >>> (compared,) = stopped(Encoded(views, views), Samples(torch.arange(3)), ALONE)
    >>> compared.anchors.requires_grad, compared.candidates.requires_grad
    (True, False)
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: Extraction

    @property
    def held_out(self) -> bool:
        """Whether the loss of what is inside means something on images it is not trained on."""
        return held_out(self.of)

    def for_samples(self, samples: int) -> "StopGradient":
        """Return the same around an extraction for N samples."""
        return replace(self, of=fit_samples(self.of, samples))

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "StopGradientExtraction":
        return StopGradientExtraction(self.of.build(maps))

    def __str__(self) -> str:
        return f"{self.of}, candidates without gradient"


class StopGradientExtraction(nn.Module):
    """The built extraction inside, and nothing of its own."""

    def __init__(self, of: BuiltExtraction) -> None:
        super().__init__()
        self.of = of

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        found = self.of(encoded, samples, world)
        return tuple(replace(one, candidates=one.candidates.detach()) for one in found)
