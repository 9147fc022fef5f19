"""One ONNX file, which onnxruntime runs without torch."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from counterpoint.export.pixel_recipe import PixelRecipe, pixel_lines
from counterpoint.export.route import Loading
from counterpoint.export.subject import Subject
from counterpoint.export.torch_files import input_words, separated
from counterpoint.version import VERSION

FILE = "model.onnx"
LINES = """\
import numpy as np
import onnxruntime
from PIL import Image, ImageOps

session = onnxruntime.InferenceSession("model.onnx")
{pixels}

def embed(pictures):
    batch = np.stack([pixels(picture) for picture in pictures])
    return session.run(["embedding"], {{"image": batch}})[0]
"""


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """`onnxruntime.InferenceSession("model.onnx")`, for any number of images."""

    name: ClassVar[str] = "onnx"
    title: ClassVar[str] = "ONNX"
    files: ClassVar[tuple[str, ...]] = (FILE,)
    without: ClassVar[tuple[str, ...]] = ("counterpoint", "torch", "timm", "torchvision")
    packages: ClassVar[tuple[str, ...]] = ("onnx", "onnxscript", "onnxruntime")

    def refusal(self, subject: Subject) -> str | None:
        return subject.pixels if isinstance(subject.pixels, str) else None

    def write(self, subject: Subject, folder: Path) -> Loading:
        recipe = subject.pixels
        assert isinstance(recipe, PixelRecipe)
        with _quiet():
            program = torch.onnx.export(
                subject.program,
                dynamo=True,
                input_names=["image"],
                output_names=["embedding"],
                verbose=False,
            )
        assert program is not None
        program.model.metadata_props.update(_provenance(subject, recipe))
        program.save(str(folder / FILE), external_data=False)
        pixels = separated(pixel_lines(recipe, bytes_in=subject.bytes_in))
        return Loading(LINES.format(pixels=pixels), input_words(recipe, bytes_in=subject.bytes_in))


def _provenance(subject: Subject, recipe: PixelRecipe) -> dict[str, str]:
    """Return what a program may want to know of where the file comes from."""
    return {
        "producer": f"counterpoint {VERSION}",
        "method": subject.method.to_json(),
        "method fingerprint": subject.method.fingerprint,
        "resize": f"short side to {recipe.short}, {recipe.interpolation}; centre {recipe.side}",
        "mean": str(list(recipe.mean)),
        "std": str(list(recipe.std)),
        "normalisation": "inside" if subject.bytes_in else "before",
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's own words out of ours; what went wrong is raised."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
