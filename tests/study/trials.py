"""Tiny trials on real images: seconds each."""

from counterpoint.study import Images, Trial

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
