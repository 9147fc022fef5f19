"""Weights that an encoder starts from."""

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

from counterpoint.framework import Encoder, Method, Model, twins
from counterpoint.framework.optional import (
    backbone_of,
    classifier_of,
    library_pixels,
    trained,
)
from counterpoint.framework.pixels import Pixels
from counterpoint.parts.encoders import innermost
from counterpoint.parts.views.normalisation import with_pixels
from counterpoint.training.weights_place import PRETRAINED, WeightsPlace, downloaded

SHOWN = 4


@dataclass(frozen=True, slots=True)
class InitialWeights:
    """A safetensors file with the keys of the encoder's network."""

    file: Path
    sha256: str
    pixels: Pixels | None = None
    """How they want to see pixels; None leaves the method's own normalisation."""
    left_out: tuple[str, ...] = ()
    """Keys of its library's classifier, which the encoder does not have."""
    name: str = ""
    """What was asked for, where that is not a path."""

    @classmethod
    def find(
        cls, weights: str | Path, encoder: Encoder, pixels: Pixels | None = None
    ) -> "InitialWeights":
        """Find weights for an encoder.

        They are a safetensors file, the folder of a run, a timm folder, or `pretrained`. Pixels
        are normalised as `pixels` says, else as is written beside them, else as the library of
        the encoder does. The usual view, its side and its crop, stay those of the weights.
        """
        inner = innermost(encoder)
        named = getattr(inner, "name", None)
        if str(weights) == PRETRAINED:
            is_timm = str(getattr(inner, "library", "")) == "timm"
            place = downloaded(named if is_timm else None)
        else:
            place = WeightsPlace.find(Path(weights))
        _refuse_other(place, named, Path(weights))
        usual = place.pixels or library_pixels(inner)
        if pixels is not None and usual is not None:
            said = {key: value for key, value in asdict(pixels).items() if value is not None}
            usual = replace(usual, **said)
        with place.file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return cls(
            place.file,
            digest,
            pixels=usual or pixels,
            left_out=_left_out(place.file, classifier_of(inner)),
            name=PRETRAINED if str(weights) == PRETRAINED else "",
        )

    def seen_by(self, method: Method) -> Method:
        """Return a method whose views are normalised as these weights want them."""
        if self.pixels is None:
            return method
        return method.swap(views=with_pixels(method.views, self.pixels))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; of the file its last two names, since records are passed on."""
        return {
            "file": self.name or "/".join(self.file.parts[-2:]),
            "sha256": self.sha256,
            "pixels": None if self.pixels is None else self.pixels.to_dict(),
            "left_out": list(self.left_out),
        }

    def __str__(self) -> str:
        said = f"weights {self.name or '/'.join(self.file.parts[-2:])}, sha256 {self.sha256[:12]}"
        if self.left_out:
            said += f"; {len(self.left_out)} keys of its classifier left out"
        return said


def pixels_words(weights: InitialWeights) -> str:
    """Say how pixels are normalised, and who says so."""
    if weights.pixels is None:
        return "normalised as the method does: the weights do not say how; --mean and --std do"
    return f"{weights.pixels}, by {weights.pixels.origin}"


def load_initial(model: Model, weights: InitialWeights) -> None:
    """Load the weights of an encoder strictly; momentum twins start from them too."""
    network = _network(model)
    own = network.state_dict()
    tensors = {
        key: value
        for key, value in load_file(weights.file).items()
        if key in own or key not in weights.left_out
    }
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
            f"weights: {weights.file} does not fit the encoder, {len(problems)} of {len(own)} "
            f"keys:{listed}{more}\n{_remedy(weights, problems)}"
        )
    network.load_state_dict(tensors)
    for twin in twins(model):
        twin.restart()


def _remedy(weights: InitialWeights, problems: list[str]) -> str:
    side = None if weights.pixels is None else weights.pixels.size
    if side is not None and all(problem.startswith("pos_embed") for problem in problems):
        return f"its positions are those of one size: take --size {side}"
    return "take the encoder that they were trained with"


def _left_out(file: Path, classifier: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of a classifier in a file."""
    with safe_open(file, framework="pt") as opened:
        keys = list(opened.keys())
    return tuple(key for key in keys if key.startswith(tuple(f"{name}." for name in classifier)))


def _refuse_other(place: WeightsPlace, named: str | None, asked: Path) -> None:
    """Refuse the folder of one model for another."""
    if place.architecture is None:
        return
    theirs, ours = (str(name).partition(".")[0] for name in (place.architecture, named))
    if theirs != ours:
        raise ValueError(
            f"weights: {asked} is of {place.architecture}, and the encoder is {named}; "
            f"take --encoder timm/{place.architecture}"
        )


def _network(model: Model) -> nn.Module:
    """Return the network of an encoder, without its head and its twin."""
    return backbone_of(trained(model.encoder))
