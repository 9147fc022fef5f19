"""Which columns of a Parquet file are the image and the label."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as arrow

from counterpoint.data.notes import say_once

IMAGES = ("image", "img")
LABELS = ("label", "labels", "fine_label")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that matter."""

    image: str
    label: str | None
    classes: tuple[str, ...] | None
    leaf: str
    """The path of the image's bytes in the schema."""


class NoImagesError(ValueError):
    """A Parquet file without a column of images."""


def columns_of(schema: Any, file: object) -> Columns:
    """Find the image and the label, by what the Hub writes into a file or by their types."""
    features = _features(schema)
    kinds = {field.name: field.type for field in schema}
    images = [n for n, f in features.items() if f.get("_type") == "Image" and n in kinds]
    images = images or [name for name, kind in kinds.items() if _holds_bytes(kind)]
    if not images:
        there = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
        raise NoImagesError(
            f"data: no images in {file}; needs a column of bytes or of {{bytes, path}}, "
            f"found {there}"
        )
    named = [n for n, f in features.items() if f.get("_type") == "ClassLabel" and n in kinds]
    whole = [name for name, kind in kinds.items() if arrow.types.is_integer(kind)]
    label = _preferred(LABELS, named) or next((n for n in LABELS if n in whole), None)
    image = _preferred(IMAGES, images) or images[0]
    if said := _left_out(image, images, label, named if label else [*named, *whole]):
        say_once(f"{file}: {said}")
    leaf = f"{image}.bytes" if arrow.types.is_struct(kinds[image]) else image
    return Columns(image, label, _names(features.get(label or "", {})), leaf)


def _features(schema: Any) -> dict[str, dict[str, Any]]:
    """Return what the Hub says of the columns; nothing where it is not what the Hub writes."""
    try:
        said = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = said["info"]["features"]
        return {str(name): f for name, f in features.items() if isinstance(f, dict)}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {}


def _names(feature: dict[str, Any]) -> tuple[str, ...] | None:
    names = feature.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def _left_out(image: str, images: Sequence[str], label: str | None, labels: Sequence[str]) -> str:
    """Say which columns could have been meant and were not taken.

    >>> _left_out("image", ["image", "depth"], None, ["target"])
    'images are column image, not depth; no labels: column target is not taken, call it label'
    """
    parts = []
    if others := [name for name in images if name != image]:
        parts.append(f"images are column {image}, not {', '.join(others)}")
    others = [name for name in dict.fromkeys(labels) if name != label]
    if others and label is None:
        one = len(others) == 1
        columns = f"column {others[0]} is" if one else f"columns {', '.join(others)} are"
        parts.append(f"no labels: {columns} not taken, call {'it' if one else 'one'} label")
    elif others:
        parts.append(f"labels are column {label}, not {', '.join(others)}")
    return "; ".join(parts)


def _preferred(names: Sequence[str], found: Sequence[str]) -> str | None:
    """Return the first name that is there, or the first that is there at all."""
    return next((name for name in names if name in found), found[0] if found else None)


def _holds_bytes(kind: Any) -> bool:
    if arrow.types.is_struct(kind):
        return any(kind[n].name == "bytes" for n in range(kind.num_fields))
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    return bool(arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind))
