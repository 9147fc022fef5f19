"""Where a first run begins on these images: from weights where there are few, else from scratch."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from counterpoint.catalogue import PRETRAINED, TIMM, is_timm_name
from counterpoint.data import Source
from counterpoint.training.weights_place import encoder_beside

FEW = 10_000  # images: below, minutes from trained weights beat a night from scratch
NIGHT = 8 * 3600  # seconds; our choice
SHORT = 600  # seconds from weights that are good already: evaluate says whether more helps
LR = 1e-3  # per 256 images, a third of the recipe's; our choice
SCRATCH = "scratch"


@dataclass(frozen=True, slots=True)
class Beginning:
    """The method, the encoder and the weights to begin with, and how long a run may take."""

    method: str
    encoder: str | None
    """None is the method's own, or that of a run whose weights are taken."""
    weights: str | None
    lr: float | None
    seconds: float

    @property
    def file(self) -> str | None:
        """The weights that can be read now."""
        return None if self.weights == PRETRAINED else self.weights


def beginning(source: Source, *, encoder: str | None, weights: str | None) -> Beginning:
    """Choose how to begin; an encoder or weights that are given are taken.

    SimCLR, since it gains most in the least time (docs/results.md): from scratch with the narrow
    encoder on a CPU and with its own on a GPU. From weights a ResNet of timm's, whose plain
    convolutions train fast.
    """
    gpu = torch.cuda.is_available()
    method = "simclr" if gpu else "simclr-small"
    if weights == SCRATCH or (weights is None and (len(source) >= FEW or source.one_shape)):
        return Beginning(method, encoder, None, None, NIGHT)
    chosen = encoder or (named_by(weights) if weights else None)
    if weights in (None, PRETRAINED):
        chosen = chosen or f"{TIMM}{'resnet50' if gpu else 'resnet18'}"
    elif chosen is None and encoder_beside(str(weights)) is None:
        raise ValueError(
            f"weights: {weights} does not say which encoder it is of; give it: --encoder timm/NAME"
        )
    return Beginning("simclr-small", chosen, weights or PRETRAINED, LR, SHORT)


def named_by(weights: str) -> str | None:
    """Read the encoder's name from a timm folder, or from the name of a file.

    >>> named_by("weights/tf_efficientnet_lite0.safetensors")
    'timm/tf_efficientnet_lite0'
    """
    path = Path(weights)
    config = path / "config.json"
    if config.is_file():
        name = str(json.loads(config.read_text()).get("architecture", ""))
    else:
        name = path.name.removesuffix(".safetensors")
    return f"{TIMM}{name}" if is_timm_name(name) else None
