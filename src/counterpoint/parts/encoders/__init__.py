"""Part (2), f: v -> M."""

from counterpoint.parts.encoders.amdim_encoder import AMDIMEncoder
from counterpoint.parts.encoders.by_name import encoder_named, resnet_for, stem_for
from counterpoint.parts.encoders.cpc_resnet import CPC_RESNET50, CPC_RESNET101, CPC_SMALL, CPCResNet
from counterpoint.parts.encoders.headed import Headed, PerView
from counterpoint.parts.encoders.momentum_encoder import MomentumEncoder
from counterpoint.parts.encoders.narrow import NarrowResNet
from counterpoint.parts.encoders.query_key import QueryKeyEncoder
from counterpoint.parts.encoders.resnet import RESNETS, ResNet
from counterpoint.parts.encoders.thin import ThinResNet
from counterpoint.parts.encoders.timm import Timm

__all__ = [
    "CPC_RESNET50",
    "CPC_RESNET101",
    "CPC_SMALL",
    "RESNETS",
    "AMDIMEncoder",
    "CPCResNet",
    "Headed",
    "MomentumEncoder",
    "NarrowResNet",
    "PerView",
    "QueryKeyEncoder",
    "ResNet",
    "ThinResNet",
    "Timm",
    "encoder_named",
    "resnet_for",
    "stem_for",
]
