"""Counterpoint: contrastive self-supervised learning of images, in five parts.

Names are imported when they are first used, so that `import counterpoint` and
`counterpoint --help` cost nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterpoint.data import Source, Splits, open_data
    from counterpoint.framework import Comparison, Method, Model, PartError, contrast
    from counterpoint.framework.training import Training
    from counterpoint.methods import METHODS, read_method, simclr, simclr_small
    from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet, ResNet, Timm
    from counterpoint.parts.extraction import Pooled, Queue
    from counterpoint.parts.losses import NCE, Regression, Triplet
    from counterpoint.parts.similarity import Bilinear, Cosine, Dot, ProjectedCosine, ScaledDot
    from counterpoint.parts.views import Pipeline
    from counterpoint.pretraining import pretrain
    from counterpoint.run import Run

_HOMES = {
    "counterpoint.data": ("Source", "Splits", "open_data"),
    "counterpoint.framework": ("Comparison", "Method", "Model", "PartError", "contrast"),
    "counterpoint.methods": ("METHODS", "read_method", "simclr", "simclr_small"),
    "counterpoint.parts.encoders": ("MomentumEncoder", "NarrowResNet", "ResNet", "Timm"),
    "counterpoint.parts.extraction": ("Pooled", "Queue"),
    "counterpoint.parts.losses": ("NCE", "Regression", "Triplet"),
    "counterpoint.parts.similarity": (
        "Bilinear",
        "Cosine",
        "Dot",
        "ProjectedCosine",
        "ScaledDot",
    ),
    "counterpoint.parts.views": ("Pipeline",),
    "counterpoint.pretraining": ("pretrain",),
    "counterpoint.run": ("Run",),
    "counterpoint.framework.training": ("Training",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "METHODS",
    "NCE",
    "Bilinear",
    "Comparison",
    "Cosine",
    "Dot",
    "Method",
    "Model",
    "MomentumEncoder",
    "NarrowResNet",
    "PartError",
    "Pipeline",
    "Pooled",
    "ProjectedCosine",
    "Queue",
    "Regression",
    "ResNet",
    "Run",
    "ScaledDot",
    "Source",
    "Splits",
    "Timm",
    "Training",
    "Triplet",
    "contrast",
    "open_data",
    "pretrain",
    "read_method",
    "simclr",
    "simclr_small",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"counterpoint has no {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
