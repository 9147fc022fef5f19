"""Counterpoint: contrastive self-supervised learning of images, in five parts.

Names are imported when they are first used, so that `import counterpoint` and
`counterpoint --help` cost nothing.
"""

import importlib
from typing import TYPE_CHECKING

from counterpoint.version import VERSION

if TYPE_CHECKING:
    from counterpoint.data import ArraySource, Source, Splits, as_source, open_data
    from counterpoint.encoder_choice import open_encoder
    from counterpoint.export.exported_encoder import load
    from counterpoint.framework import (
        Comparison,
        Encoded,
        Method,
        Model,
        PartError,
        Samples,
        Scores,
        Terms,
        contrast,
    )
    from counterpoint.framework.settings import Training
    from counterpoint.functional import nt_xent
    from counterpoint.methods import (
        METHODS,
        amdim,
        amdim_small,
        byol,
        byol_small,
        cmc,
        cmc_small,
        cpc,
        cpc_small,
        moco,
        moco_small,
        read_method,
        simclr,
        simclr_small,
        training_of,
        yadim,
        yadim_small,
    )
    from counterpoint.parts.encoders import (
        AMDIMEncoder,
        CPCResNet,
        FeatureMaps,
        Headed,
        ModuleEncoder,
        MomentumEncoder,
        NarrowResNet,
        PerView,
        QueryKeyEncoder,
        ResNet,
        ThinResNet,
        Timm,
        as_encoder,
    )
    from counterpoint.parts.extraction import Bank, ByLabel, Compare, Context, Keys, Pooled, Queue
    from counterpoint.parts.losses import NCE, BarlowTwins, Penalised, Regression, Triplet, VICReg
    from counterpoint.parts.similarity import (
        Bilinear,
        Cosine,
        Dot,
        PredictedCosine,
        ProjectedCosine,
        ScaledDot,
    )
    from counterpoint.parts.views import (
        CentreCrop,
        ChannelSplit,
        ColourJitter,
        ColourSpace,
        GaussianBlur,
        Greyscale,
        HorizontalFlip,
        MultiView,
        Normalise,
        Patches,
        Pipeline,
        RandomResizedCrop,
        Resize,
        Solarise,
        Translation,
    )
    from counterpoint.parts.views.transform import ViewTransform
    from counterpoint.pretraining import pretrain
    from counterpoint.run import Run
    from counterpoint.search import search_vectors
    from counterpoint.training.contrastive_module import ContrastiveModule
    from counterpoint.vectors import Vectors, embed_data

__version__ = VERSION

# The one list of public names, each under the module that it is imported from. The block above is
# for type checkers and __all__ for `import *`; tests/test_public_names.py holds both to this one.
_NAMES = {
    "counterpoint.data": "ArraySource Source Splits as_source open_data",
    "counterpoint.encoder_choice": "open_encoder",
    "counterpoint.export.exported_encoder": "load",
    "counterpoint.framework": (
        "Comparison Encoded Method Model PartError Samples Scores Terms contrast"
    ),
    "counterpoint.functional": "nt_xent",
    "counterpoint.methods": (
        "METHODS amdim amdim_small byol byol_small cmc cmc_small cpc cpc_small moco moco_small "
        "read_method simclr simclr_small training_of yadim yadim_small"
    ),
    "counterpoint.parts.encoders": (
        "AMDIMEncoder CPCResNet FeatureMaps Headed ModuleEncoder MomentumEncoder NarrowResNet "
        "PerView QueryKeyEncoder ResNet ThinResNet Timm as_encoder"
    ),
    "counterpoint.parts.extraction": "Bank ByLabel Compare Context Keys Pooled Queue",
    "counterpoint.parts.losses": "BarlowTwins NCE Penalised Regression Triplet VICReg",
    "counterpoint.parts.similarity": (
        "Bilinear Cosine Dot PredictedCosine ProjectedCosine ScaledDot"
    ),
    "counterpoint.parts.views": (
        "CentreCrop ChannelSplit ColourJitter ColourSpace GaussianBlur Greyscale HorizontalFlip "
        "MultiView Normalise Patches Pipeline RandomResizedCrop Resize Solarise Translation"
    ),
    "counterpoint.parts.views.transform": "ViewTransform",
    "counterpoint.pretraining": "pretrain",
    "counterpoint.run": "Run",
    "counterpoint.search": "search_vectors",
    "counterpoint.training.contrastive_module": "ContrastiveModule",
    "counterpoint.framework.settings": "Training",
    "counterpoint.vectors": "Vectors embed_data",
}
_HOMES = {home: tuple(names.split()) for home, names in _NAMES.items()}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "METHODS",
    "NCE",
    "AMDIMEncoder",
    "ArraySource",
    "Bank",
    "BarlowTwins",
    "Bilinear",
    "ByLabel",
    "CPCResNet",
    "CentreCrop",
    "ChannelSplit",
    "ColourJitter",
    "ColourSpace",
    "Compare",
    "Comparison",
    "Context",
    "ContrastiveModule",
    "Cosine",
    "Dot",
    "Encoded",
    "FeatureMaps",
    "GaussianBlur",
    "Greyscale",
    "Headed",
    "HorizontalFlip",
    "Keys",
    "Method",
    "Model",
    "ModuleEncoder",
    "MomentumEncoder",
    "MultiView",
    "NarrowResNet",
    "Normalise",
    "PartError",
    "Patches",
    "Penalised",
    "PerView",
    "Pipeline",
    "Pooled",
    "PredictedCosine",
    "ProjectedCosine",
    "QueryKeyEncoder",
    "Queue",
    "RandomResizedCrop",
    "Regression",
    "ResNet",
    "Resize",
    "Run",
    "Samples",
    "ScaledDot",
    "Scores",
    "Solarise",
    "Source",
    "Splits",
    "Terms",
    "ThinResNet",
    "Timm",
    "Training",
    "Translation",
    "Triplet",
    "VICReg",
    "Vectors",
    "ViewTransform",
    "amdim",
    "amdim_small",
    "as_encoder",
    "as_source",
    "byol",
    "byol_small",
    "cmc",
    "cmc_small",
    "contrast",
    "cpc",
    "cpc_small",
    "embed_data",
    "load",
    "moco",
    "moco_small",
    "nt_xent",
    "open_data",
    "open_encoder",
    "pretrain",
    "read_method",
    "search_vectors",
    "simclr",
    "simclr_small",
    "training_of",
    "yadim",
    "yadim_small",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(_missing(name))
    return getattr(importlib.import_module(_HOME[name]), name)


def _missing(name: str) -> str:
    """Say where a method beyond the paper's seven is, or which names there are."""
    from counterpoint.catalogue import METHODS as NAMES

    if name.removesuffix("_small") in NAMES:
        return f"counterpoint has no {name!r}; write: from counterpoint.methods import {name}"
    return f"counterpoint has no {name!r}; it has {', '.join(__all__)}"


def __dir__() -> list[str]:
    return sorted(__all__)
