"""Tiny trials on real images, seconds each, and outcomes as a trial might have had."""

import torch

from counterpoint.evaluation.scores import bitmap
from counterpoint.study import Cost, Images, Outcome, Trial

COUNT = 1000
TINY = '{"part":"NarrowResNet","widths":[8,16],"blocks":[1,1],"stride":2}'


def tiny(seed=0, lr=1e-3, **changes):
    settings = {
        "name": "tiny",
        "method": "simclr-small",
        "encoder": TINY,
        "data": "$COUNTERPOINT_DATA/cifar10",
        "limit": 240,
        "budget": Images(96),
        "seed": seed,
        "training": (("batch", 32), ("lr", lr)),
        "row": f"rate {lr:g}",
        "column": "SimCLR",
    }
    return Trial(**settings | changes)


def outcome(row, column, seed, accuracy, *, kept=True):
    """An outcome whose first images are right: cells differ on the images between."""
    right = torch.arange(COUNT) < round(accuracy * COUNT)
    trial = tiny(seed, row=row, column=column, name=f"{row} {column}")
    return Outcome(
        trial=trial,
        fingerprint=f"{row}{column}{seed}",
        figures={"linear": accuracy},
        right={"linear": bitmap(right)} if kept else {},
        tested=COUNT,
        cost=Cost(flops=1e15, images=96, seconds=30.0),
        data="same",
    )
