"""The methods: compositions, one screen each."""

from collections.abc import Callable, Mapping
from pathlib import Path

from counterpoint.framework import Method
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named

METHODS: dict[str, Callable[..., Method]] = {"simclr": simclr, "simclr-small": simclr_small}


def named(name: str, *, size: int, encoder: str | None = None) -> Method:
    """Compose a method by its name, or read it from a .json file; with an encoder by its name.

    >>> named("simclr", size=32) == simclr()
    True
    """
    if name.endswith(".json"):
        method = read_method(Path(name).read_text())
    elif name in METHODS:
        method = METHODS[name](size=size)
    else:
        raise ValueError(f"method: got {name!r}; there are {', '.join(METHODS)}, or a .json file")
    return method if encoder is None else method.swap(encoder=encoder_named(encoder, size=size))


def read_method(text: str, *, parts: Mapping[str, type] | None = None) -> Method:
    """Read a method from JSON; `parts` adds a user's own part classes by name.

    >>> read_method(simclr().to_json()) == simclr()
    True
    """
    return Method.from_json(text, parts={**PARTS, **(parts or {})})


__all__ = ["METHODS", "named", "read_method", "simclr", "simclr_small"]
