"""Tensors in a safetensors file: whole or not there, and readable as other files are."""

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from counterpoint.whole_file import whole_file


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], *, metadata: dict[str, str] | None = None
) -> None:
    """Write a file at once, so that nobody ever sees half of it.

    safetensors makes files that only their owner may read; this one has the permissions that
    the umask gives any other file. Tensors that share memory (tied weights) are written one by
    one, so that every name is there for whoever loads them.
    """
    with whole_file(path) as unfinished:
        unfinished.touch()
        usual = unfinished.stat().st_mode & 0o777
        save_file(_apart(tensors), unfinished, metadata=metadata)
        unfinished.chmod(usual)


def _apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors of which each has its own memory.

    >>> import torch
    >>> both = torch.arange(3)
    >>> apart = _apart({"a": both, "b": both[:2]})
    >>> apart["a"].data_ptr() == apart["b"].data_ptr(), apart["b"].tolist()
    (False, [0, 1])
    """
    seen: set[int] = set()
    found = {}
    for name, tensor in tensors.items():
        plain = tensor.detach().contiguous()
        place = plain.untyped_storage().data_ptr()
        found[name] = plain.clone() if place in seen and plain.numel() else plain
        seen.add(place)
    return found
