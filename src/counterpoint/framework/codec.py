"""Settings to JSON and back: plain data, closed names, nothing is ever imported from a file."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from reprlib import repr as short
from typing import Any, get_type_hints

Json = None | bool | int | float | str | list[Any] | dict[str, Any]


def encode(value: object) -> Json:
    """Write settings as plain data, each dataclass under its class name."""
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        content = {f.name: _number(getattr(value, f.name), hints[f.name]) for f in fields(value)}
        return {"part": type(value).__name__} | {key: encode(v) for key, v in content.items()}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"settings hold plain values, tuples and dataclasses, not {value!r}")


def decode(data: Json, names: Mapping[str, type]) -> Any:
    """Read settings; a name that is not in `names` or a field that does not exist is refused."""
    if isinstance(data, list):
        return tuple(decode(item, names) for item in data)
    if not isinstance(data, dict):
        return data
    content = dict(data)
    name = content.pop("part", None)
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"unknown part {name!r}; known are {', '.join(sorted(names))}")
    known = {f.name for f in fields(names[name])}
    if unknown := content.keys() - known:
        raise ValueError(f"{name} has no setting {min(unknown)!r}; it has {sorted(known)}")
    return names[name](**{key: decode(value, names) for key, value in content.items()})


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
    ValueError: got NaN, which is no JSON
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
    raise ValueError(f"got {name}, which is no JSON")


def _number(value: object, hint: object) -> object:
    """Write 1 as 1.0 where the setting is a float, so that both have one fingerprint."""
    return float(value) if hint is float and isinstance(value, int) else value
