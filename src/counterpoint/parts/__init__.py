"""The five parts of section 2, and the closed table of their names."""

from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet, ResNet, Timm
from counterpoint.parts.extraction import Pooled, Queue
from counterpoint.parts.losses import NCE, Regression, Triplet
from counterpoint.parts.similarity import Bilinear, Cosine, Dot, ProjectedCosine, ScaledDot
from counterpoint.parts.views import (
    ColourJitter,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    Normalise,
    Pipeline,
    RandomResizedCrop,
    Resize,
)

PARTS: dict[str, type] = {
    part.__name__: part
    for part in (
        *(Pipeline, RandomResizedCrop, Resize, HorizontalFlip, GaussianBlur),
        *(ColourJitter, Greyscale, Normalise),
        *(ResNet, NarrowResNet, Timm, MomentumEncoder),
        *(Pooled, Queue),
        *(Dot, ScaledDot, Cosine, Bilinear, ProjectedCosine),
        *(NCE, Triplet, Regression),
    )
}
"""Every name that a method's JSON may use; nothing else is ever looked up."""
