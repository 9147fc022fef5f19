"""Where weights are: a file, a run, a folder of timm, or timm's own download."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import timm
from safetensors import SafetensorError, safe_open

from counterpoint.catalogue import PRETRAINED as PRETRAINED
from counterpoint.data.cache import cache_folder
from counterpoint.data.tensor_file import write_tensors
from counterpoint.failures import RunFailure
from counterpoint.framework import codec
from counterpoint.framework.pixels import Pixels
from counterpoint.parts.encoders.timm import timm_pixels
from counterpoint.run_files import ENCODER, METHOD

CONFIG = "config.json"
TENSORS = "model.safetensors"
NEEDS = (
    "needs a .safetensors file, the folder of a run, a timm folder (config.json and "
    "model.safetensors) or pretrained"
)


@dataclass(frozen=True, slots=True)
class WeightsPlace:
    """A file of weights, and what is said beside it."""

    file: Path
    architecture: str | None = None
    """The model of timm that they belong to."""
    pixels: Pixels | None = None
    """How they want to see pixels, where that is written down."""

    @classmethod
    def find(cls, weights: Path) -> "WeightsPlace":
        """Look for weights at a path."""
        if (weights / CONFIG).is_file():
            return _timm_folder(weights)
        file = weights / ENCODER if weights.is_dir() else weights
        if not file.is_file():
            raise FileNotFoundError(f"weights: there is no {file}; {NEEDS}")
        if file.name == ENCODER and (file.parent / METHOD).is_file():
            return cls(file, pixels=_run_pixels(file.parent))
        return cls(file, pixels=_stored_pixels(file))


def encoder_beside(weights: str | Path) -> str | None:
    """Return the encoder that a timm folder names or that a run has: a name, or its JSON.

    None for weights of any other kind, and for those of several networks.
    """
    place = Path(weights)
    if (place / CONFIG).is_file():
        return f"timm/{_timm_folder(place).architecture}"
    folder = place.parent if place.name == ENCODER else place
    return _run_encoder(folder) if (folder / METHOD).is_file() else None


def downloaded(name: str | None) -> WeightsPlace:
    """Return timm's own weights of a model, downloaded where they are not there yet."""
    if name is None:
        raise ValueError(
            "weights: pretrained is timm's download, and the encoder is not timm's; "
            "take --encoder timm/NAME"
        )
    file = cache_folder().with_name("weights") / f"{name}.safetensors"
    if not file.is_file():
        try:
            network = timm.create_model(name, pretrained=True, num_classes=0)
        except Exception as error:  # of any of three libraries
            why = " ".join(str(error).split())[:160] or type(error).__name__
            raise RunFailure(
                f"weights: {name} could not be downloaded ({why}); on a machine with a network "
                f"timm.create_model({name!r}, pretrained=True) does, and --weights FILE takes it"
            ) from error
        file.parent.mkdir(parents=True, exist_ok=True)
        write_tensors(file, network.state_dict())
    return WeightsPlace(file, architecture=name)


def _timm_folder(folder: Path) -> WeightsPlace:
    file = folder / TENSORS
    record = _read(folder / CONFIG)
    architecture = record.get("architecture")
    if not isinstance(architecture, str):
        raise ValueError(
            f"weights: {folder / CONFIG} names no architecture; needs a folder that timm wrote"
        )
    if not file.is_file():
        raise FileNotFoundError(f"weights: {folder} has {CONFIG} and no {TENSORS}; {NEEDS}")
    config = record.get("pretrained_cfg")
    pixels = timm_pixels(config, f"{folder.name}/{CONFIG}") if isinstance(config, dict) else None
    return WeightsPlace(file, architecture, pixels)


def _run_encoder(folder: Path) -> str | None:
    """Read the encoder inside of the twin and the head of a run's method."""
    found = _read(folder / METHOD).get("encoder")
    while isinstance(found, dict) and "of" in found:
        found = found["of"]
    if not isinstance(found, dict):  # a network for each view
        return None
    name = found.get("name")
    return f"timm/{name}" if found == {"part": "Timm", "name": name} else codec.to_text(found)


def _run_pixels(folder: Path) -> Pixels | None:
    """Read the normalisation of a run from its method, whatever its other parts are."""
    found = _normalise(_read(folder / METHOD).get("views"))
    if found is None:
        return None
    return Pixels(tuple(found["mean"]), tuple(found["std"]), origin=f"the run {folder.name}")


def _normalise(settings: Any) -> dict[str, Any] | None:
    """Find the settings of red, green and blue's normalisation in JSON."""
    inside = settings
    if isinstance(settings, dict):
        if settings.get("part") == "Normalise":
            return settings
        inside = list(settings.values())
    if not isinstance(inside, list):
        return None
    if any(isinstance(one, dict) and one.get("part") == "ColourSpace" for one in inside):
        return None
    return next((found for one in inside if (found := _normalise(one)) is not None), None)


def _stored_pixels(file: Path) -> Pixels | None:
    """Read what a run wrote into the file beside its weights."""
    try:
        with safe_open(file, framework="pt") as opened:
            said = opened.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"weights: {file} is not a safetensors file ({error}); {NEEDS}") from error
    try:
        mean, std = (tuple(map(float, said[key].split())) for key in ("mean", "std"))
    except (KeyError, ValueError):
        return None
    return Pixels(mean, std, origin=file.name)


def _read(file: Path) -> dict[str, Any]:
    try:
        record = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"weights: {file} cannot be read: {error}") from error
    return record if isinstance(record, dict) else {}
