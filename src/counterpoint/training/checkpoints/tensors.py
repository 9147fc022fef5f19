"""The safetensors format: tensors to bytes in pieces, and a header that is trusted in nothing."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import torch
from torch import Tensor

from counterpoint.framework.codec import from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
    "C64": torch.complex64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E4M3FNUZ": torch.float8_e4m3fnuz,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
}
"""Those that the safetensors library reads."""

FILE = "state.safetensors"

NAMES = {dtype: name for name, dtype in DTYPES.items()}

HEADER = 4 << 20
"""Bytes of a header: room for 30,000 tensors. The library allows 100 MB, which as hostile JSON
would take gigabytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a header says of one tensor: `start` and `stop` count from the end of the header."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    stop: int

    def empty(self) -> Tensor:
        """Make room for the tensor."""
        return torch.empty(self.shape, dtype=self.dtype)


def raw(tensor: Tensor) -> memoryview:
    r"""Return the bytes of a contiguous tensor, without a copy.

    >>> bytes(raw(torch.tensor([1, 258], dtype=torch.int16)))
    b'\x01\x00\x02\x01'
    """
    return tensor.reshape(-1).view(torch.uint8).numpy().data


def on_host(tensor: Tensor) -> Tensor:
    """Return a tensor as plain bytes in the memory of the host; itself, where it is that."""
    return tensor.cpu().resolve_conj().resolve_neg().contiguous()


def pieces(tensors: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    """Write tensors as safetensors, piece by piece, so that no second copy is in memory."""
    # Wide ones first: with a header of whole eights, each starts at a multiple of its width.
    order = sorted(tensors, key=lambda name: -tensors[name].itemsize)
    table, place = {}, 0
    for name in order:
        tensor = tensors[name]
        offsets = [place, place := place + tensor.nbytes]
        shape = list(tensor.shape)
        table[name] = {"dtype": NAMES[tensor.dtype], "shape": shape, "data_offsets": offsets}
    header = json.dumps(table, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > HEADER:
        raise CheckpointError(
            f"checkpoint: the names of {len(tensors)} tensors take {len(header)} bytes, at most "
            f"{HEADER}; join small tensors into larger ones"
        )
    yield len(header).to_bytes(8, "little") + header
    for name in order:
        yield raw(on_host(tensors[name]))


def header_length(first: bytes, *, size: int, file: str = FILE) -> int:
    """Read the length of the header from the first eight bytes of a file of `size` bytes.

    >>> header_length((16).to_bytes(8, "little"), size=24)
    16
    """
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > min(size - 8, HEADER):
        raise CheckpointError(
            f"{file}: claims a header of {length} bytes in a file of {size}, at most {HEADER}"
        )
    return length


def entries(header: bytes, *, size: int, file: str = FILE) -> tuple[Entry, ...]:
    """Read a header, in the order of the data; tensors must fill all `size` bytes of data once.

    >>> entries(b'{"a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}}', size=2)[0].shape
    (2, 1)
    """
    try:
        table = from_text(header.decode())
    except ValueError as error:
        raise CheckpointError(f"{file}: header is not valid JSON ({error})") from error
    if not isinstance(table, dict):
        raise CheckpointError(f"{file}: the header is not a table of tensors")
    found = [_entry(name, record, file=file) for name, record in table.items()]
    found.sort(key=lambda entry: (entry.start, entry.stop))
    place = 0
    for entry in found:
        if entry.start != place:
            raise CheckpointError(f"{file}: {short(entry.name)} leaves a hole or overlaps")
        place = entry.stop
    if place != size:
        raise CheckpointError(f"{file}: tensors fill {place} of {size} bytes")
    return tuple(found)


def _entry(name: str, record: object, *, file: str) -> Entry:
    match record:
        case {
            "dtype": str(kind),
            "shape": list(shape),
            "data_offsets": [start, stop],
            **rest,
        } if kind in DTYPES and not rest:
            if _sound(shape, DTYPES[kind].itemsize, start, stop):
                return Entry(name, DTYPES[kind], tuple(shape), start, stop)
    raise CheckpointError(f"{file}: {short(name)} cannot be {short(record)}")


def _sound(shape: list[Any], width: int, start: Any, stop: Any) -> bool:
    """Whether shape and place are numbers that agree, and torch can count the bytes."""
    if len(shape) > 64 or not all(type(n) is int and n >= 0 for n in (*shape, start, stop)):
        return False
    fits = math.prod(max(side, 1) for side in shape) * width < 2**62
    return fits and bool(stop - start == math.prod(shape) * width)
