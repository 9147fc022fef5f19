"""The five parts of section 2, and the closed table of their names."""

from counterpoint.parts.encoders import (
    AMDIMEncoder,
    CPCResNet,
    Headed,
    MomentumEncoder,
    NarrowResNet,
    PerView,
    QueryKeyEncoder,
    ResNet,
    ThinResNet,
    Timm,
)
from counterpoint.parts.extraction import Bank, Compare, Context, Keys, OneWay, Pair, Pooled, Queue
from counterpoint.parts.losses import NCE, Penalised, Regression, Triplet
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

PARTS: dict[str, type] = {
    part.__name__: part
    for part in (
        *(Pipeline, MultiView, ChannelSplit),
        *(RandomResizedCrop, Translation, HorizontalFlip, Resize, CentreCrop),
        *(ColourJitter, Greyscale, Solarise, GaussianBlur, Normalise, ColourSpace, Patches),
        *(ResNet, NarrowResNet, ThinResNet, Timm, AMDIMEncoder, CPCResNet, Headed, PerView),
        *(MomentumEncoder, QueryKeyEncoder),
        *(Pooled, Compare, Pair, OneWay, Context, Keys, Queue, Bank),
        *(Dot, ScaledDot, Cosine, Bilinear, ProjectedCosine, PredictedCosine),
        *(NCE, Penalised, Triplet, Regression),
    )
}
"""Every name that a method's JSON may use; nothing else is ever looked up."""
