"""One checkpoint written next to its place, and put there when it is whole."""

import os
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, TENSORS, Manifest
from counterpoint.training.checkpoints.space import require_space
from counterpoint.training.checkpoints.tensors import pieces
from counterpoint.training.checkpoints.writing import new_folder, put_in_place, write_file


def write(
    target: Path, step: int, *, text: bytes, tensors: Mapping[str, Tensor], otherwise: str
) -> None:
    """Write the three files of a step; `otherwise` says what is left if there is no room."""
    size = len(text) + sum(tensor.nbytes for tensor in tensors.values())
    require_space(target.parent, size, otherwise=otherwise)
    with new_folder(target) as (new, descriptor):
        manifest = Manifest(
            step,
            plain=write_file(PLAIN, descriptor, [text]),
            tensors=write_file(TENSORS, descriptor, pieces(tensors)),
        )
        write_file(MANIFEST, descriptor, [manifest.write()])
        os.fsync(descriptor)
        put_in_place(new, target)
