"""Settings to JSON and back: plain data, closed names, nothing is ever imported from a file."""

import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from reprlib import repr as short
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

DEPTH = 32
"""Levels of settings; a method has at most ten."""


LATER = {"later": True}
"""Metadata of a setting that a part did not have from the beginning.

It is written only where it is not the default: methods that do not use it keep their JSON and
their fingerprint.
"""


def encode(value: object) -> Json:
    """Write settings as plain data, each dataclass under its class name."""
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        content = {
            f.name: _number(getattr(value, f.name), hints[f.name])
            for f in fields(value)
            if not (f.metadata == LATER and getattr(value, f.name) == f.default)
        }
        return {"part": type(value).__name__} | {key: encode(v) for key, v in content.items()}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"settings hold plain values, tuples and dataclasses, not {value!r}")


def decode(data: Json, names: Mapping[str, type], *, level: int = 0) -> Any:
    """Read settings; a name, a setting or a value that a class does not have is refused."""
    if level > DEPTH:
        raise ValueError(f"settings are nested deeper than {DEPTH} levels")
    if isinstance(data, list):
        return tuple(decode(item, names, level=level + 1) for item in data)
    if not isinstance(data, dict):
        return data
    content = dict(data)
    name = content.pop("part", None)
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"unknown part {short(name)}; known are {', '.join(sorted(names))}")
    known = {f.name for f in fields(names[name])}
    if unknown := content.keys() - known:
        raise ValueError(f"{name} has no setting {short(min(unknown))}; it has {sorted(known)}")
    read = {key: decode(value, names, level=level + 1) for key, value in content.items()}
    return _made(names[name], read)


def _made(part: type, settings: dict[str, Any]) -> Any:
    """Make a part; the checks of its own may rely on the types that it declares."""
    hints = get_type_hints(part)
    for key, value in settings.items():
        if not fits(value, hints[key]):
            needs = getattr(hints[key], "__name__", hints[key])
            raise ValueError(f"{part.__name__}.{key}: got {short(value)}, needs {needs}")
    needed = {f.name for f in fields(part) if f.default is MISSING and f.default_factory is MISSING}
    if missing := needed - settings.keys():
        raise ValueError(f"{part.__name__} needs its setting {min(missing)!r}")
    return part(**settings)


def _is_finite(value: float) -> bool:
    return not isinstance(value, bool) and abs(value) <= sys.float_info.max


def fits(value: object, hint: Any) -> bool:
    """Whether a value is one that a setting declares, and that JSON can hold.

    >>> fits(1, float), fits(True, int), fits([0.1], tuple[float, ...])
    (True, False, False)
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if kind is tuple:
        items = value if isinstance(value, tuple) else ()
        each = inner[:1] * len(items) if inner[-1] is ... else inner
        return items is value and len(items) == len(each) and all(map(fits, items, each))
    if hint is float:
        return isinstance(value, int | float) and _is_finite(value)
    if hint is int:
        return type(value) is int and abs(value) < 2**63
    if hint in (bool, str, NoneType):
        return type(value) is hint
    return _is_part(value, hint) if isinstance(hint, type) else True


def _is_part(value: object, hint: type) -> bool:
    try:
        return isinstance(value, hint)
    except TypeError:  # a protocol that does not say what belongs to it
        return is_dataclass(value)


def to_text(data: Json) -> str:
    """Write canonical JSON: the same settings give the same bytes on every machine.

    >>> to_text({"b": 1.0, "a": [True, None]})
    '{"a":[true,null],"b":1.0}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_text(text: str) -> Json:
    """Read JSON and refuse a key that stands twice, NaN, and a depth that Python cannot follow.

    >>> from_text('{"tau": NaN}')
    Traceback (most recent call last):
        ...
    ValueError: got NaN, which is not valid JSON
    """
    try:
        data: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deep") from None
    return data


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError(f"a key stands twice among {short([key for key, _ in pairs])}")
    return content


def _no_number(name: str) -> None:
    raise ValueError(f"got {name}, which is not valid JSON")


def _number(value: object, hint: object) -> object:
    """Write 1 as 1.0 where the setting is a float, so that both have one fingerprint."""
    return float(value) if hint is float and isinstance(value, int) else value
