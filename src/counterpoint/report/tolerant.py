"""JSON that others wrote: what is missing or of another kind is None, never a crash."""

import json
import math
from pathlib import Path
from typing import Any


def finite(value: object) -> float | None:
    """Return a finite number.

    >>> finite(3), finite("3"), finite(float("nan")), finite(True)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def text_or_none(value: object) -> str | None:
    """Return text; numbers are not text."""
    return value if isinstance(value, str) and value else None


def mapping(value: object) -> dict[str, Any]:
    """Return an object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def numbers(value: object) -> tuple[float, ...] | None:
    """Return a list of numbers; what is not finite in it is nan.

    >>> numbers([1, None]), numbers("12")
    ((1.0, nan), None)
    """
    if not isinstance(value, list):
        return None
    found = [finite(item) for item in value]
    return tuple(math.nan if item is None else item for item in found)


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one object; {} if there is none, or half of one."""
    try:
        return mapping(json.loads(path.read_text()))
    except (OSError, ValueError):
        return {}


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Read an object per line; lines that a stopped run left half written are skipped."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, ValueError):
        return []
    found = []
    for line in lines:
        try:
            found.append(mapping(json.loads(line)))
        except ValueError:
            continue
    return [record for record in found if record]
