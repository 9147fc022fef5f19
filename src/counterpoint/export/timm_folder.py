"""A folder that timm loads: config.json beside the weights."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import timm
import torch
from torch import Tensor, nn

from counterpoint.export.pixel_recipe import UPRIGHT, PixelRecipe
from counterpoint.export.route import WEIGHTS, Loading
from counterpoint.export.subject import Subject
from counterpoint.framework.optional import Architecture

CONFIG = "config.json"
CLOSE = 1e-5
PATCH_MEAN = {"global_pool": "avg", "fc_norm": False}
"""What makes a vision transformer of timm average its patches behind its last norm."""
LINES = """\
import numpy as np
import timm
import torch
from PIL import Image, ImageOps

model = timm.create_model("local-dir:.", pretrained=True).eval()
transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model))


{upright}

def embed(pictures):
    batch = torch.stack([transform(upright(picture)) for picture in pictures])
    with torch.inference_mode():
        return {call}.numpy()
"""


@dataclass(frozen=True, slots=True)
class TimmReading:
    """How a network of timm gives our vector: with which arguments, by which expression."""

    args: dict[str, Any]
    call: str


READINGS = (
    TimmReading({}, "model(batch)"),
    TimmReading(PATCH_MEAN, "model(batch)"),
    TimmReading({}, "model.forward_features(batch).mean(dim=(2, 3))"),
    TimmReading({}, "model.forward_features(batch).mean(dim=(1, 2))"),
    TimmReading({}, "model.forward_features(batch)[:, model.num_prefix_tokens :].mean(dim=1)"),
    TimmReading({}, "model.forward_intermediates(batch, norm=True)[1][-1].mean(dim=(2, 3))"),
    TimmReading({}, "model.forward_intermediates(batch, norm=False)[1][-1].mean(dim=(2, 3))"),
)
"""From the plainest to what this library itself does; the first that gives the vector is taken."""


@dataclass(frozen=True, slots=True)
class TimmFolder:
    """`timm.create_model("local-dir:FOLDER", pretrained=True)`."""

    name: ClassVar[str] = "timm"
    title: ClassVar[str] = "timm"
    files: ClassVar[tuple[str, ...]] = (WEIGHTS, CONFIG)
    without: ClassVar[tuple[str, ...]] = ("counterpoint",)
    packages: ClassVar[tuple[str, ...]] = ()

    def refusal(self, subject: Subject) -> str | None:
        if subject.architecture is None:
            return "timm has no such network"
        if isinstance(subject.pixels, str):
            return subject.pixels
        if subject.pixels.after:
            return f"timm does not cut views into pieces ({subject.pixels.after[0]})"
        return None

    def write(self, subject: Subject, folder: Path) -> Loading:
        assert subject.architecture is not None
        assert isinstance(subject.pixels, PixelRecipe)
        network = _made(subject, {})
        batch = _noise(subject.pixels)
        wanted = subject.representation.encoded((batch,))
        reading = _reading(subject, network, batch, wanted)
        config = _config(subject.architecture, reading, subject.pixels, network, subject.licence)
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n")
        lines = LINES.format(upright=UPRIGHT.format(mode=subject.pixels.mode), call=reading.call)
        return Loading(lines, _remark(reading, network(batch), wanted))


def _made(subject: Subject, more: dict[str, Any]) -> Any:
    """Make timm's network with the weights of the run."""
    assert subject.architecture is not None
    with torch.random.fork_rng(devices=[]):
        made: nn.Module = timm.create_model(
            subject.architecture.name, num_classes=0, **subject.architecture.args, **more
        )
    made.load_state_dict(subject.backbone.state_dict())
    return made.eval().requires_grad_(requires_grad=False)


def _noise(recipe: PixelRecipe) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, recipe.channels, recipe.side, recipe.side, generator=generator)


def _reading(subject: Subject, network: Any, batch: Tensor, wanted: Tensor) -> TimmReading:
    """Find how timm's own network gives our vector, by trying."""
    for reading in READINGS:
        try:
            model = _made(subject, reading.args) if reading.args else network
            found = eval(reading.call, {"model": model, "batch": batch})  # noqa: S307 (ours, above)
        except (TypeError, AttributeError, RuntimeError, IndexError, AssertionError, ValueError):
            continue
        if found.shape == wanted.shape and _apart(found, wanted) < CLOSE:
            return reading
    assert subject.architecture is not None
    raise ValueError(f"export: timm's {subject.architecture.name} does not give the run's vectors")


def _apart(found: Tensor, wanted: Tensor) -> float:
    return float((found - wanted).abs().max() / wanted.abs().max())


def _config(
    architecture: Architecture,
    reading: TimmReading,
    recipe: PixelRecipe,
    network: Any,
    licence: str | None,
) -> dict[str, Any]:
    """Return config.json as timm's hub reads it."""
    known = network.pretrained_cfg
    shape = [recipe.channels, recipe.side, recipe.side]
    args = {**architecture.args, **reading.args}
    return {
        "architecture": architecture.name,
        "num_classes": 0,
        "num_features": network.num_features,
        **({"model_args": args} if args else {}),
        "pretrained_cfg": {
            "tag": "counterpoint",
            "input_size": shape,
            "fixed_input_size": bool(known.get("fixed_input_size", False)),
            "interpolation": recipe.interpolation,
            "crop_pct": crop_share(recipe.side, recipe.short),
            "crop_mode": "center",
            "mean": list(recipe.mean),
            "std": list(recipe.std),
            "num_classes": 0,
            "pool_size": known.get("pool_size"),
            # timm would turn a stem of three channels into another; these weights have their own.
            "first_conv": known.get("first_conv") if recipe.channels == 3 else None,
            "classifier": known.get("classifier"),
            **({"license": licence} if licence else {}),
        },
    }


def crop_share(side: int, short: int) -> float:
    """Return timm's `crop_pct`: the short side is floor(side / crop_pct) before the crop.

    >>> crop_share(224, 256), crop_share(64, 73), crop_share(32, 32)
    (0.875, 0.876, 1.0)
    """
    for digits in range(3, 12):
        scale = 10.0**digits
        share = math.floor(side / short * scale) / scale
        if math.floor(side / share) == short:
            return share
    return side / (short + 0.5)


def _remark(reading: TimmReading, plain: Tensor, wanted: Tensor) -> str:
    """Say what `model(x)` gives."""
    if reading.call != "model(batch)":
        what = (
            f"another vector, of {plain.shape[1]} numbers"
            if plain.shape[1] != wanted.shape[1]
            else "another vector"
        )
        return (
            f"`model(x)` itself gives {what}: timm keeps layers behind the pooling, or another "
            "pooling, that belong to a classifier and were not trained. Take the line above."
        )
    if reading.args:
        return (
            "`model(x)` gives this vector, since `config.json` sets `global_pool` to the average "
            "of the patches; timm's default is the class token, which was not trained."
        )
    return "`model(x)` gives this vector."
