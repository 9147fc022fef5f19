"""Several extractions of one encoder, each with its share of the loss."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import Comparison, Encoded, Extraction, PartError, Samples, World
from counterpoint.framework.contracts import BuiltExtraction
from counterpoint.framework.optional import fit_samples, held_out
from counterpoint.framework.records import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """The comparisons of several extractions, by one similarity and one loss.

    >>> from counterpoint.parts.extraction import Keys, Matched, Queue
    >>> print(Together(of=(Queue(of=Keys(), size=64), Queue(of=Matched(), size=64)), shares=(0.5, 0.5)))
    0.5 of (Keys(map=-1, pool='mean'), queue of 64) + 0.5 of (places of map -1, matched by map -2, queue of 64)
    """  # noqa: E501 (a composition is one line)

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: tuple[Extraction, ...]
    shares: tuple[float, ...]
    """What the loss of each counts in the sum."""

    def __post_init__(self) -> None:
        if not self.of or len(self.of) != len(self.shares):
            raise PartError(
                "extraction",
                got=f"{len(self.of)} extractions and {len(self.shares)} shares",
                needs="one or more, and a share for each",
            )

    @property
    def held_out(self) -> bool:
        """Whether the loss of all of them means something on images they are not trained on."""
        return all(held_out(one) for one in self.of)

    def for_samples(self, samples: int) -> "Together":
        """Return the same for a data set of N samples."""
        return replace(self, of=tuple(fit_samples(one, samples) for one in self.of))

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "TogetherExtraction":
        return TogetherExtraction([one.build(maps) for one in self.of], self.shares)

    def __str__(self) -> str:
        each = zip(self.of, self.shares, strict=True)
        return " + ".join(f"{share:g} of ({one})" for one, share in each)


class TogetherExtraction(nn.Module):
    """The built extractions; those that remember nothing are no modules."""

    def __init__(self, of: list[BuiltExtraction], shares: tuple[float, ...]) -> None:
        super().__init__()
        self.of, self.shares = of, shares
        self.remembering = nn.ModuleList(one for one in of if isinstance(one, nn.Module))

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        return tuple(
            replace(found, weight=found.weight * share)
            for one, share in zip(self.of, self.shares, strict=True)
            for found in one(encoded, samples, world)
        )
