"""The methods: compositions, one screen each."""

from collections.abc import Callable, Mapping

from counterpoint.framework import Method
from counterpoint.methods.simclr import simclr
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named

METHODS: dict[str, Callable[..., Method]] = {"simclr": simclr}


def named(name: str, *, encoder: str, size: int) -> Method:
    """Compose a method by its name, with an encoder by its name."""
    if name not in METHODS:
        raise ValueError(f"method: got {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name](encoder_named(encoder, size=size), size=size)


def read_method(text: str, *, parts: Mapping[str, type] | None = None) -> Method:
    """Read a method from JSON; `parts` adds a user's own part classes by name.

    >>> read_method(simclr().to_json()) == simclr()
    True
    """
    return Method.from_json(text, parts={**PARTS, **(parts or {})})


__all__ = ["METHODS", "named", "read_method", "simclr"]
