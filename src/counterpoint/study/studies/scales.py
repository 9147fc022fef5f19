"""Two sizes of the same study: as the paper has it, and for two cores."""

from typing import Literal

from counterpoint.framework import codec
from counterpoint.parts.encoders import AMDIMEncoder, ResNet
from counterpoint.parts.encoders.resnet import RESNETS
from counterpoint.study.budget import Images

Scale = Literal["paper", "small"]

CIFAR10 = "$COUNTERPOINT_DATA/cifar10"
EPOCH = 45_000  # images of CIFAR-10's training split, section 4 of the paper

BUDGET = {
    # The paper gives hours, not epochs; 300 epochs are amdim-public's (train.py).
    "paper": Images(300 * EPOCH),
    "small": Images(EPOCH),
}
SEEDS = {"paper": 3, "small": 3}  # the paper has one; three is the least that has a spread
PROBES = {"paper": ("knn", "linear", "mlp"), "small": ("knn", "linear")}
RATES = {
    # pytorch-lightning-bolts 0.2, the paper's code: 2e-4 x 2^-5 to 2^5 at 200 images.
    "paper": tuple(2e-4 * 256 / 200 * 2.0**power for power in range(-5, 6)),
    "small": (3e-4, 1e-3, 3e-3),  # around those of the -small recipes
}

WIDE = {
    # pytorch-lightning-bolts 0.2, CIFAR-10.
    "paper": AMDIMEncoder(width=320, rkhs=1280, depth=10),
    "small": AMDIMEncoder(width=32, rkhs=256, depth=2),
}
TYPES = {
    "paper": RESNETS,
    "small": ("resnet18", "resnet34", "resnet50", "resnext50_32x4d"),  # three kinds of block
}


def wide(scale: Scale) -> str:
    """Give AMDIM's wide encoder as JSON."""
    return text(WIDE[scale])


def resnet(name: str, scale: Scale) -> str:
    """Give a ResNet as JSON; at the small scale its ImageNet stem makes it sixteen times cheaper.

    >>> resnet("resnet18", "small")
    '{"name":"resnet18","part":"ResNet","stem":"imagenet"}'
    """
    return text(ResNet(name, stem="imagenet" if scale == "small" else "small"))


def text(part: object) -> str:
    """Write a part as JSON."""
    return codec.to_text(codec.encode(part))
