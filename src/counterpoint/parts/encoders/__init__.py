"""Part (2), f: v -> M."""

from counterpoint.parts.encoders.momentum import MomentumEncoder
from counterpoint.parts.encoders.names import encoder_named
from counterpoint.parts.encoders.narrow import NarrowResNet
from counterpoint.parts.encoders.resnet import RESNETS, ResNet
from counterpoint.parts.encoders.timm import Timm

__all__ = ["RESNETS", "MomentumEncoder", "NarrowResNet", "ResNet", "Timm", "encoder_named"]
