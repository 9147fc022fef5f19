"""Files that torch alone loads: a program with its weights (.pt2), and torchvision's networks."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from counterpoint.export.pixel_recipe import PixelRecipe, pixel_lines
from counterpoint.export.route import WEIGHTS, Loading
from counterpoint.export.subject import Subject

PROGRAM = "model.pt2"
TORCHVISION = """\
import numpy as np
import torch
import torchvision
from PIL import Image, ImageOps
from safetensors.torch import load_file

{library}
model.load_state_dict(load_file("model.safetensors"))
model.eval()
{pixels}

def embed(pictures):
    batch = torch.from_numpy(np.stack([pixels(picture) for picture in pictures]))
    with torch.inference_mode():
        return model(batch).numpy()
"""
PT2 = """\
import numpy as np
import torch
from PIL import Image, ImageOps

model = torch.export.load("model.pt2").module()
{pixels}

def embed(pictures):
    batch = torch.from_numpy(np.stack([pixels(picture) for picture in pictures]))
    with torch.inference_mode():
        return model(batch).numpy()
"""


@dataclass(frozen=True, slots=True)
class TorchProgram:
    """`torch.export.load("model.pt2")`, for any number of images."""

    name: ClassVar[str] = "pt2"
    title: ClassVar[str] = "torch.export"
    files: ClassVar[tuple[str, ...]] = (PROGRAM,)
    without: ClassVar[tuple[str, ...]] = ("counterpoint", "timm", "torchvision")
    packages: ClassVar[tuple[str, ...]] = ()

    def refusal(self, subject: Subject) -> str | None:
        return subject.pixels if isinstance(subject.pixels, str) else None

    def write(self, subject: Subject, folder: Path) -> Loading:
        recipe = subject.pixels
        assert isinstance(recipe, PixelRecipe)
        torch.export.save(subject.program, folder / PROGRAM)
        pixels = separated(pixel_lines(recipe, bytes_in=subject.bytes_in))
        return Loading(PT2.format(pixels=pixels), input_words(recipe, bytes_in=subject.bytes_in))


@dataclass(frozen=True, slots=True)
class TorchvisionNetwork:
    """The weights in torchvision's own network, with the stem that it was trained with."""

    name: ClassVar[str] = "torchvision"
    title: ClassVar[str] = "torchvision"
    files: ClassVar[tuple[str, ...]] = (WEIGHTS,)
    without: ClassVar[tuple[str, ...]] = ("counterpoint", "timm")
    packages: ClassVar[tuple[str, ...]] = ()

    def refusal(self, subject: Subject) -> str | None:
        if subject.library_lines is None:
            return "the network is not torchvision's"
        if isinstance(subject.pixels, str):
            return subject.pixels
        if subject.pixels.after:
            return f"torchvision does not cut views into pieces ({subject.pixels.after[0]})"
        return None

    def write(self, subject: Subject, folder: Path) -> Loading:  # noqa: ARG002 (the weights are there)
        assert isinstance(subject.pixels, PixelRecipe)
        pixels = separated(pixel_lines(subject.pixels))
        return Loading(TORCHVISION.format(library=subject.library_lines, pixels=pixels))


def separated(pixels: str) -> str:
    """Put a function two lines below what is above it, and a constant one."""
    return f"\n\n{pixels}" if pixels.startswith("def") else pixels


def input_words(recipe: PixelRecipe, *, bytes_in: bool) -> str:
    """Say what the network takes."""
    kind = "bytes, normalised inside" if bytes_in else "normalised floats"
    return f"The input is (batch, {recipe.channels}, {recipe.side}, {recipe.side}), {kind}."
