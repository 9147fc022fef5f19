"""The methods: compositions, one screen each."""

from collections.abc import Callable, Mapping
from pathlib import Path

from counterpoint.framework import Method
from counterpoint.framework.parts import Views
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named
from counterpoint.parts.views.pipelines import PIPELINES

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


def views_named(name: str, *, size: int) -> Views:
    """Give part (1) of a method by its name, or of one of the paper's seven by theirs.

    >>> print(views_named("cmc", size=32))
    1 x (random crop 0.2-1 to 32 -> flip 0.5 -> Lab -> normalise), split 1:2
    """
    if name in PIPELINES and name not in METHODS:
        return PIPELINES[name](size)
    return named(name, size=size).views


def read_method(text: str, *, parts: Mapping[str, type] | None = None) -> Method:
    """Read a method from JSON; `parts` adds a user's own part classes by name.

    >>> read_method(simclr().to_json()) == simclr()
    True
    """
    return Method.from_json(text, parts={**PARTS, **(parts or {})})


__all__ = ["METHODS", "named", "read_method", "simclr", "simclr_small", "views_named"]
