"""One checkpoint written next to its place, and put there when it is whole."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from counterpoint.pulse import beat
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.divided_rows import DividedRows
from counterpoint.training.checkpoints.encoding import encode_state
from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, TENSORS, Manifest
from counterpoint.training.checkpoints.rank_shares import Leaf
from counterpoint.training.checkpoints.space import require_space
from counterpoint.training.checkpoints.step_names import step_name, step_of
from counterpoint.training.checkpoints.tensors import pieces
from counterpoint.training.checkpoints.validity import MOST
from counterpoint.training.checkpoints.writing import new_folder, put_in_place, write_file


def encoded_text(step: int, state: dict[str, Any]) -> tuple[dict[str, Leaf], bytes]:
    """Return the tensors of a state, and the rest as text; what is too large is refused."""
    if step_of(step_name(step)) is None:
        raise ValueError(f"checkpoint: step is {step}, needs a number from 0 to 10^18")
    leaves, plain = encode_state(state)
    text = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > MOST[PLAIN]:
        raise CheckpointError(
            f"checkpoint: the state of step {step} has {len(text)} bytes besides its tensors, "
            f"at most {MOST[PLAIN]}; put long lists of numbers into tensors"
        )
    return leaves, text


def whole_tensors(leaves: Mapping[str, Leaf]) -> dict[str, Tensor]:
    """Return tensors of which this process has all rows; others are refused."""
    for name, leaf in leaves.items():
        if isinstance(leaf, DividedRows) and not leaf.whole:
            raise CheckpointError(
                f"checkpoint: {name} has {len(leaf.own)} of {leaf.length} rows on this rank; "
                "one rank alone cannot save it, as trainer.save_checkpoint does"
            )
    return {
        name: leaf.own if isinstance(leaf, DividedRows) else leaf for name, leaf in leaves.items()
    }


def write(
    target: Path,
    step: int,
    *,
    text: bytes,
    tensors: Mapping[str, Tensor],
    otherwise: str,
    done: Callable[[], None] = beat,
) -> None:
    """Write the three files of a step; `otherwise` says what is left if there is no room."""
    size = len(text) + sum(tensor.nbytes for tensor in tensors.values())
    require_space(target.parent, size, otherwise=otherwise)
    with new_folder(target) as (new, descriptor):
        manifest = Manifest(
            step,
            plain=write_file(PLAIN, descriptor, [text], done=done),
            shares=(write_file(TENSORS, descriptor, pieces(tensors), done=done),),
        )
        write_file(MANIFEST, descriptor, [manifest.write()], done=done)
        os.fsync(descriptor)
        put_in_place(new, target)
