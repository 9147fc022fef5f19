"""Whether there are labels to measure with."""

import sys

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data import Splits


def refuse_unlabelled(splits: Splits) -> None:
    """Refuse splits that probes cannot learn from or be scored on, and say what to do.

    >>> from counterpoint.data import ArraySource
    >>> some = ArraySource("holiday", torch.zeros(4, 3, 8, 8, dtype=torch.uint8))
    >>> refuse_unlabelled(Splits(some, some, some))
    Traceback (most recent call last):
        ...
    ValueError: evaluation: holiday has no labels; put the images into one folder per class, or \
look at them without labels: counterpoint report RUN --data DATA
    """
    for source in (splits.train, splits.validation, splits.test):
        if not source.has_labels:
            raise ValueError(
                f"evaluation: {source.name} has no labels; put the images into one folder per "
                "class, or look at them without labels: counterpoint report RUN --data DATA"
            )
    for what, source in (("choose by", splits.validation), ("score", splits.test)):
        if not len(source):
            raise ValueError(
                f"evaluation: {splits.train!r}, and none to {what}; needs at least 10 labelled "
                "images, of which two are held out"
            )


def refuse_one_class(labels: Int64[Tensor, " image"]) -> None:
    """Refuse labels that are all one: a probe that knows one class is always right about it.

    >>> refuse_one_class(torch.zeros(40, dtype=torch.int64))
    Traceback (most recent call last):
        ...
    ValueError: evaluation: all 40 images to learn labels from are of one class; needs two or more \
(the first images of a folder, as by --limit, may be)
    """
    if int(labels.min()) == int(labels.max()):
        raise ValueError(
            f"evaluation: all {len(labels):,} images to learn labels from are of one class; needs "
            "two or more (the first images of a folder, as by --limit, may be)"
        )


def say_unknown_classes(known: Int64[Tensor, " image"], asked: Int64[Tensor, " image2"]) -> None:
    """Say how many test images are of classes that no probe has learned."""
    if count := int((~torch.isin(asked, known)).sum()):
        sys.stderr.write(
            f"evaluation: {count:,} of {len(asked):,} test images are of classes that are not "
            "among the images to learn labels from; every probe is wrong about them\n"
        )
