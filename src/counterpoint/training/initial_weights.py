"""Weights that pretraining starts from."""

import hashlib
from pathlib import Path

from safetensors.torch import load_file
from torch import nn

from counterpoint.framework import Model, twins
from counterpoint.framework.optional import backbone_of, trained
from counterpoint.run_files import ENCODER

SHOWN = 4


def load_initial(model: Model, weights: Path) -> dict[str, str]:
    """Load the weights of an encoder strictly and say which they were, for run.json.

    `weights` is the folder of a run, or a safetensors file with the keys of the encoder's network,
    as `encoder.safetensors` of a run has them. Momentum twins start from them too.
    """
    file = weights / ENCODER if weights.is_dir() else weights
    if not file.is_file():
        raise FileNotFoundError(
            f"weights: there is no {file}; needs the folder of a run or a .safetensors file"
        )
    network = _network(model)
    tensors = load_file(file)
    own = network.state_dict()
    problems = [
        *(f"{key} is missing" for key in own if key not in tensors),
        *(f"{key} is not in the encoder" for key in tensors if key not in own),
        *(
            f"{key} is {tuple(tensors[key].shape)}, needs {tuple(own[key].shape)}"
            for key in own
            if key in tensors and tensors[key].shape != own[key].shape
        ),
    ]
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise ValueError(
            f"weights: {file} does not fit the encoder, {len(problems)} of {len(own)} keys:"
            f"{listed}{more}\ntake the encoder that they were trained with"
        )
    network.load_state_dict(tensors)
    for twin in twins(model):
        twin.restart()
    return {"file": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def _network(model: Model) -> nn.Module:
    """Return the network of an encoder, without its head and its twin."""
    return backbone_of(trained(model.encoder))
