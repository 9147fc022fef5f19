"""A method is a value: five parts, and nothing else."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import nn

from counterpoint.framework import codec
from counterpoint.framework.contracts import Encoder, Extraction, Loss, Similarity, Views
from counterpoint.framework.errors import PartError
from counterpoint.framework.model import Model, build
from counterpoint.framework.optional import asks_for_labels, fit_samples, held_out
from counterpoint.framework.records import Shape
from counterpoint.notebook import html_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A contrastive method as its five parts.

    It can be printed, compared, hashed, written to JSON and read back, and changed in one
    place by `swap`.

    >>> from counterpoint import Triplet, read_method, simclr
    >>> method = simclr().swap(loss=Triplet(margin=0.5))
    >>> print(method.loss)
    Triplet(margin=0.5)
    >>> read_method(method.to_json()) == method
    True
    >>> method.fingerprint == simclr().fingerprint
    False
    """

    views: Views
    encoder: Encoder
    extraction: Extraction
    similarity: Similarity
    loss: Loss

    def __post_init__(self) -> None:
        for place in fields(self):
            value = getattr(self, place.name)
            belongs = getattr(value, "part", None)
            if belongs != place.name:
                raise PartError(
                    place.name,
                    got=f"{type(value).__name__}, which is part {belongs!r}",
                    needs=f"settings whose `part` is {place.name!r}",
                    do=_wrapped(place.name, value),
                )

    def swap(self, **parts: Any) -> "Method":
        """Return the same method with some parts replaced."""
        if unknown := parts.keys() - {place.name for place in fields(self)}:
            raise PartError(
                min(unknown),
                got="an unknown name",
                needs=f"one of {', '.join(FIVE)}",
                do=f"this is\n{self}",
            )
        return replace(self, **parts)

    def for_samples(self, samples: int) -> "Method":
        """Return the method for a data set of N samples: a bank has an entry for each."""
        fitted = fit_samples(self.extraction, samples)
        return self if fitted == self.extraction else self.swap(extraction=fitted)

    @property
    def held_out(self) -> bool:
        """Whether its loss means something on images that it is not trained on."""
        return held_out(self.extraction)

    @property
    def needs_labels(self) -> bool:
        """Whether one of its parts asks for the labels of samples."""
        return asks_for_labels(getattr(self, place.name) for place in fields(self))

    def build(self, *, image: Shape) -> Model:
        """Check the composition on the meta device, then make its modules.

        `image` is the shape of one image, (channels, height, width).
        """
        return build(
            image,
            views=self.views,
            encoder=self.encoder,
            extraction=self.extraction,
            similarity=self.similarity,
            loss=self.loss,
        )

    def to_json(self) -> str:
        """Write the method as canonical JSON."""
        return codec.to_text(codec.encode(self))

    @classmethod
    def from_json(cls, text: str, *, parts: Mapping[str, type]) -> "Method":
        """Read a method; `parts` is the closed table of part names."""
        method = codec.decode(codec.from_text(text), {**parts, cls.__name__: cls})
        if not isinstance(method, cls):
            raise ValueError(f"this is the JSON of a {type(method).__name__}, not of a method")
        return method

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any setting and with nothing else."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def rows(self) -> tuple[tuple[str, str], ...]:
        """List the five parts as (name, settings)."""
        return tuple((place.name, str(getattr(self, place.name))) for place in fields(self))

    def __repr__(self) -> str:
        """The five parts."""
        return str(self)

    def _repr_html_(self) -> str:
        """The five parts as a table, which is what a notebook shows."""
        rows = [(f"({n})", *row) for n, row in enumerate(self.rows(), start=1)]
        return html_table(rows)

    def __str__(self) -> str:
        return "\n".join(
            f"({number}) {name:<11}{settings}"
            for number, (name, settings) in enumerate(self.rows(), start=1)
        )


FIVE = tuple(place.name for place in fields(Method))
"""The names of the five parts, in order."""


def _wrapped(place: str, value: object) -> str:
    """Say how a network becomes an encoder."""
    kind = value if isinstance(value, type) else type(value)
    if place != "encoder" or not issubclass(kind, nn.Module):
        return ""
    call = kind.__name__ if kind is value else f"{kind.__name__}(...)"
    return f"any nn.Module becomes one by as_encoder({call})"
