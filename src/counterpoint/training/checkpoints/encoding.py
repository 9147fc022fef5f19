"""A training state as tensors and plain JSON, and back again bit for bit."""

import math
import struct
from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

from torch import Tensor, nn, strided

from counterpoint.framework.codec import Json
from counterpoint.framework.local_rows import is_sharded
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.divided_rows import DividedRows, local_part
from counterpoint.training.checkpoints.rank_shares import Leaf
from counterpoint.training.checkpoints.tensors import NAMES

DEPTH = 64
"""Levels of lists and dicts; a state of Lightning has about ten."""

BITS = 2048
"""Bits of an int; Python may be set to read no more than 640 digits."""

RESERVED = "__metadata__"
"""A name that safetensors keeps for itself."""

WHOLE, ROWS, DISTRIBUTED = "tensor", "rows", "distributed"
"""How a tensor stands in state.json: all ranks have it, each has rows, or it was a DTensor."""


def encode_state(state: dict[str, Any]) -> tuple[dict[str, Leaf], Json]:
    """Take a state apart into named tensors and JSON that says where they belong.

    What JSON has not is an object with one key: a tensor, rows, a tuple, a dict, a dict with int
    keys ("pairs"), a float that is not finite (its 64 bits).

    >>> encode_state({"lr": 0.1, "betas": (0.9, 0.95)})
    ({}, {'dict': {'lr': 0.1, 'betas': {'tuple': [0.9, 0.95]}}})
    """
    tensors: dict[str, Leaf] = {}
    return tensors, _plain(state, (), tensors)


def decode_state(tensors: Mapping[str, Any], plain: Json) -> dict[str, Any]:
    """Put a state together; every tensor must have exactly one place.

    >>> decode_state({}, {"dict": {"betas": {"tuple": [0.9, 0.95]}}})
    {'betas': (0.9, 0.95)}
    """
    left = dict(tensors)
    state = _value(plain, left, level=0)
    if not isinstance(state, dict):
        raise CheckpointError(f"state.json: holds a {type(state).__name__}, needs a dict")
    if left:
        raise CheckpointError(f"state.json: has no place for the tensor {short(min(left))}")
    return state


def leaf_kinds(plain: Json, level: int = 0) -> dict[str, str]:
    """Return the names of the tensors that a state has places for, and what each stands as.

    >>> leaf_kinds({"dict": {"weight": {"tensor": "weight"}, "bank": {"rows": "bank"}}})
    {'weight': 'tensor', 'bank': 'rows'}
    """
    if level > 2 * DEPTH:
        raise CheckpointError(f"state.json: nested deeper than {DEPTH} levels")
    if isinstance(plain, list):
        below: list[Any] = plain
    elif isinstance(plain, dict):
        tag, content = next(iter(plain.items())) if len(plain) == 1 else ("", None)
        if tag in (WHOLE, ROWS, DISTRIBUTED) and isinstance(content, str):
            return {content: tag}
        below = list(plain.values())
    else:
        return {}
    found: dict[str, str] = {}
    for item in below:
        found |= leaf_kinds(item, level + 1)
    return found


def _plain(value: object, place: tuple[str, ...], tensors: dict[str, Leaf]) -> Json:
    kind = type(value)  # not isinstance: an IntEnum or a numpy float would come back as another
    if len(place) > DEPTH:
        raise _refused(place[:4], f"nested deeper than {DEPTH} levels, or holds itself")
    if value is None or (isinstance(value, bool | str) and kind in (bool, str)):
        return value
    if isinstance(value, int) and kind is int:
        return _small(value, place)
    if isinstance(value, float) and kind is float:
        return value if math.isfinite(value) else {"float": _bits(value)}
    if isinstance(value, DividedRows):
        return {ROWS: _keep(value, place, tensors)}
    if isinstance(value, Tensor) and is_sharded(value):
        leaf = _local(value, place)
        tag = WHOLE if isinstance(leaf, Tensor) else DISTRIBUTED
        return {tag: _keep(leaf, place, tensors)}
    if isinstance(value, Tensor):
        return {WHOLE: _keep(value, place, tensors)}
    if isinstance(value, list | tuple) and kind in (list, tuple):
        items = [_plain(item, (*place, str(i)), tensors) for i, item in enumerate(value)]
        return items if kind is list else {"tuple": items}
    if isinstance(value, dict):
        return _dict(value, place, tensors)
    raise _refused(place, f"a {kind.__name__}")


def _local(value: Any, place: tuple[str, ...]) -> Leaf:
    try:
        return local_part(value)
    except TypeError as error:
        raise _refused(place, str(error)) from None


def _dict(value: dict[Any, Any], place: tuple[str, ...], tensors: dict[str, Leaf]) -> Json:
    for key in value:
        if type(key) not in (str, int):
            raise _refused(place, f"a dict with the key {short(key)}, a {type(key).__name__}")
    items = [(key, _plain(item, (*place, str(key)), tensors)) for key, item in value.items()]
    if all(isinstance(key, str) for key in value):
        return {"dict": dict(items)}
    return {"pairs": [[_small(k, place) if isinstance(k, int) else k, v] for k, v in items]}


def _small(value: int, place: tuple[str, ...]) -> int:
    if value.bit_length() > BITS:
        raise _refused(place, f"an int of {value.bit_length()} bits, more than {BITS}")
    return value


def _keep(leaf: Leaf, place: tuple[str, ...], tensors: dict[str, Leaf]) -> str:
    value = leaf.own if isinstance(leaf, DividedRows) else leaf
    if type(value) not in (Tensor, nn.Parameter) or value.layout is not strided or value.is_meta:
        raise _refused(place, f"a {type(value).__name__} ({value.layout}, {value.device})")
    if value.dtype not in NAMES:
        raise _refused(place, f"a tensor of {value.dtype}, which safetensors has not")
    name = path = ".".join(place).encode("ascii", "backslashreplace").decode()
    number = 1
    while name in tensors or name == RESERVED:  # "a.b" in one dict, and "b" in the dict "a"
        number += 1
        name = f"{path}#{number}"
    here = value.detach()
    tensors[name] = (
        DividedRows(here, leaf.start, leaf.length) if isinstance(leaf, DividedRows) else here
    )
    return name


def _refused(place: tuple[str, ...], what: str) -> TypeError:
    return TypeError(
        f"checkpoint: {'.'.join(place) or 'the state'} is {what}; a state holds None, bool, int, "
        "float, str, list, tuple, dict (with str or int keys) and dense tensors"
    )


def _value(plain: Json, left: dict[str, Any], *, level: int) -> Any:
    if level > DEPTH:
        raise CheckpointError(f"state.json: nested deeper than {DEPTH} levels")
    if isinstance(plain, list):
        return [_value(item, left, level=level + 1) for item in plain]
    if isinstance(plain, dict):
        return _tagged(plain, left, level=level)
    if isinstance(plain, float) and not math.isfinite(plain):
        raise CheckpointError("state.json: holds a number that is too large for a float")
    return plain


def _tagged(plain: dict[str, Any], left: dict[str, Any], *, level: int) -> Any:
    tag, content = next(iter(plain.items())) if len(plain) == 1 else (None, None)
    if tag in (WHOLE, ROWS, DISTRIBUTED) and isinstance(content, str) and content in left:
        return left.pop(content)
    if tag == "tuple" and isinstance(content, list):
        return tuple(_value(item, left, level=level + 1) for item in content)
    if tag == "dict" and isinstance(content, dict):
        return {key: _value(item, left, level=level + 1) for key, item in content.items()}
    if tag == "pairs" and isinstance(content, list):
        return _paired(content, left, level=level)
    if tag == "float" and isinstance(content, str) and (number := _unusual(content)) is not None:
        return number
    raise CheckpointError(
        f"state.json: holds {short(plain)}, needs a tuple, dict, pairs or float, or a tensor of "
        "state.safetensors that stands nowhere else"
    )


def _paired(content: list[Any], left: dict[str, Any], *, level: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for pair in content:
        if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) not in (str, int):
            raise CheckpointError(f"state.json: holds the pair {short(pair)}, needs [key, value]")
        found[pair[0]] = _value(pair[1], left, level=level + 1)
    if len(found) != len(content):
        raise CheckpointError("state.json: a key stands twice")
    return found


def _bits(value: float) -> str:
    return struct.pack(">d", value).hex()


def _unusual(bits: str) -> float | None:
    """Read the 64 bits of a float that is not finite, written as `_bits` writes them."""
    try:
        number = float(struct.unpack(">d", bytes.fromhex(bits))[0])
    except (ValueError, struct.error):
        return None
    return None if math.isfinite(number) or _bits(number) != bits else number
