"""Part (1), A: x -> v."""

from counterpoint.parts.views.blur import GaussianBlur
from counterpoint.parts.views.colour import ColourJitter, Greyscale, Normalise, Solarise
from counterpoint.parts.views.colour_space import ColourSpace
from counterpoint.parts.views.geometry import (
    CentreCrop,
    HorizontalFlip,
    RandomResizedCrop,
    Resize,
    Translation,
)
from counterpoint.parts.views.patches import Patches
from counterpoint.parts.views.pipeline import Pipeline
from counterpoint.parts.views.several import ChannelSplit, MultiView
from counterpoint.parts.views.stage import Stage
from counterpoint.parts.views.transform import ViewTransform

__all__ = [
    "CentreCrop",
    "ChannelSplit",
    "ColourJitter",
    "ColourSpace",
    "GaussianBlur",
    "Greyscale",
    "HorizontalFlip",
    "MultiView",
    "Normalise",
    "Patches",
    "Pipeline",
    "RandomResizedCrop",
    "Resize",
    "Solarise",
    "Stage",
    "Translation",
    "ViewTransform",
]
