"""Part (1), A: x -> v."""

from counterpoint.parts.views.colour import ColourJitter, Greyscale, Normalise
from counterpoint.parts.views.geometry import (
    GaussianBlur,
    HorizontalFlip,
    RandomResizedCrop,
    Resize,
)
from counterpoint.parts.views.pipeline import Pipeline, Stage

__all__ = [
    "ColourJitter",
    "GaussianBlur",
    "Greyscale",
    "HorizontalFlip",
    "Normalise",
    "Pipeline",
    "RandomResizedCrop",
    "Resize",
    "Stage",
]
