"""Weights that pretraining starts from."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file
from torch import nn

from counterpoint.framework import Model, twins
from counterpoint.framework.optional import backbone_of, trained
from counterpoint.run_files import ENCODER

SHOWN = 4


@dataclass(frozen=True, slots=True)
class InitialWeights:
    """A safetensors file with the keys of the encoder's network."""

    file: Path
    sha256: str

    @classmethod
    def find(cls, weights: Path) -> "InitialWeights":
        """Find them: the folder of a run, whose encoder is taken, or the file itself."""
        file = weights / ENCODER if weights.is_dir() else weights
        if not file.is_file():
            raise FileNotFoundError(
                f"weights: there is no {file}; needs the folder of a run or a .safetensors file"
            )
        with file.open("rb") as opened:
            return cls(file, hashlib.file_digest(opened, "sha256").hexdigest())

    def to_dict(self) -> dict[str, str]:
        """Return plain data; of the file its last two names, since records are passed on."""
        return {"file": "/".join(self.file.parts[-2:]), "sha256": self.sha256}


def load_initial(model: Model, file: Path) -> None:
    """Load the weights of an encoder strictly; momentum twins start from them too."""
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


def _network(model: Model) -> nn.Module:
    """Return the network of an encoder, without its head and its twin."""
    return backbone_of(trained(model.encoder))
