"""Two sizes of the same study: as the paper has it, and for two cores in an hour."""

from typing import Literal

from counterpoint.framework import Encoder, codec
from counterpoint.parts.encoders import AMDIMEncoder, NarrowResNet, ResNet, ThinResNet
from counterpoint.parts.encoders.resnet import RESNETS
from counterpoint.study.budget import Images
from counterpoint.study.trial import Trial, Value

Scale = Literal["paper", "small"]

CIFAR10 = "$COUNTERPOINT_DATA/cifar10"
EPOCH = 45_000  # images of CIFAR-10's training split, section 4 of the paper

BUDGET = {
    # The paper gives hours, not epochs; 300 epochs are amdim-public's (train.py).
    "paper": Images(300 * EPOCH),
    "small": Images(EPOCH // 2),
}
TRAINING: dict[Scale, tuple[tuple[str, Value], ...]] = {
    "paper": (),
    "small": (("batch", 128),),  # the smaller of the -small recipes': half an epoch is 176 steps
}
SEEDS = {"paper": 3, "small": 3}  # the paper has one; three is the least that has a spread
PROBES = {"paper": ("knn", "linear", "mlp"), "small": ("knn", "linear")}
RATES = {
    # pytorch-lightning-bolts 0.2, the paper's code: 2e-4 x 2^-5 to 2^5 at 200 images.
    "paper": tuple(2e-4 * 256 / 200 * 2.0**power for power in range(-5, 6)),
    "small": (2e-3, 6e-3),  # around those of the -small recipes
}
LABELLED = {"paper": None, "small": 5_000}  # half of a small trial would be embedding

WIDE = {
    # pytorch-lightning-bolts 0.2, CIFAR-10.
    "paper": AMDIMEncoder(width=320, rkhs=1280, depth=10),
    "small": AMDIMEncoder(width=16, rkhs=128, depth=2),
}
NARROW = NarrowResNet(widths=(32, 64, 128))
"""The one encoder of table 3 at the small scale: half as wide as `small`."""
THIN = {"resnet18": 16, "resnet34": 16, "resnet50": 8, "resnext50_32x4d": 8}
"""Planes of the first stage, 64 in full: bottlenecks have four times as many channels."""
TYPES = {"paper": RESNETS, "small": tuple(THIN)}


def trial(scale: Scale, method: str) -> Trial:
    """Return what all trials of a scale have in common.

    >>> trial("small", "simclr-small").budget
    Images(n=22500)
    """
    return Trial(
        method=method,
        data=CIFAR10,
        budget=BUDGET[scale],
        training=TRAINING[scale],
        rates=RATES[scale],
        probes=PROBES[scale],
        labelled=LABELLED[scale],
    )


def resnet(name: str, scale: Scale) -> Encoder:
    """Return a ResNet; at the small scale a thin one, whose stem pools.

    >>> resnet("resnet50", "small")
    ThinResNet(name='resnet50', width=8, stem='imagenet', stem_width=None, zero_init=True)
    """
    if scale == "small":
        return ThinResNet(name=name, width=THIN[name], stem="imagenet")
    return ResNet(name, stem="small")


def part_json(part: object) -> str:
    """Write a part as JSON."""
    return codec.to_text(codec.encode(part))
