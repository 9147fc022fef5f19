"""Anchors from the first view only, as equation 2 of the paper is printed."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import Comparison, Encoded, Samples, World
from counterpoint.framework.records import Shape
from counterpoint.parts.extraction.maps import Compare, MapExtraction


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay:
    r"""Another comparison of maps in one direction, each of its K pairs with the same share.

    $$ \frac{1}{K} \sum_{(j:k)} \mathcal{N}(m^a_j, m^+_k) $$

    `Compare` takes both views as anchors in turn, half each, and adds its pairs.

    >>> print(OneWay(of=Compare.parse("(-1:-2) + (-2:-2)")))
    (-1:-2) + (-2:-2), one place, one way, the mean of 2
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: Compare

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "OneWayExtraction":
        return OneWayExtraction(self.of.build(maps))

    def __str__(self) -> str:
        return f"{self.of}, one way, the mean of {len(self.of.pairs) or 'all'}"


class OneWayExtraction(nn.Module):
    """The comparisons of the first view with the second."""

    def __init__(self, of: MapExtraction) -> None:
        super().__init__()
        self.of = of

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        found = self.of(encoded, samples, world)
        first = found[:: len(found) // len(self.of.pairs)]  # a pair's directions follow each other
        return tuple(replace(one, weight=1 / len(first)) for one in first)
