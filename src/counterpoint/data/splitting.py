"""Which images are for training, which for choosing, and which for the score at the end.

Nothing here is drawn: the same images always give the same splits.
"""

from dataclasses import replace
from typing import TypeVar

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.files import Files
from counterpoint.data.source import Source, Splits
from counterpoint.framework.permutation import SORTED, Permutation
from counterpoint.framework.philox import keyed_order

SEED = 0  # the paper does not say which images it holds out; these are ours, for everyone
TENTH = 10  # section 4, CIFAR-10: "a 45,000/5,000 training/validation split"
MOST = 50_000  # section 4, ImageNet: "our own 50,000 image validation set from the training set"

Some = TypeVar("Some", Source, Files)


def held_out(images: Some, *, count: int) -> tuple[Some, Some]:
    """Hold some images out of a training set, in no order that the files have."""
    rest, held = _parts(len(images), count)
    return images.subset("train", rest), images.subset("validation", held)


def tenths(images: Source | Files) -> Splits:
    """Split what comes in one piece: all of it to train on, or eight in ten with labels.

    >>> labels = torch.arange(30) % 3
    >>> tenths(Source("some", torch.zeros(30, 3, 8, 8, dtype=torch.uint8), labels))
    some train: 24 images, 3 x 8 x 8, 3 classes, 3 to choose by, 3 to score
    """
    held = 0 if images.labels is None else len(images) // TENTH
    if held == 0:  # nothing is copied: the images may be many
        none = torch.arange(0)
        whole = replace(images, name=f"{images.name} train")
        return Splits(whole, images.subset("validation", none), images.subset("test", none))
    rest, validation, test = _parts(len(images), held, held)
    return Splits(
        images.subset("train", rest),
        images.subset("validation", validation),
        images.subset("test", test),
    )


def _parts(count: int, *held: int) -> list[Int64[Tensor, " part"]]:
    """Give the samples that stay, and those of each part that is held out, as numbers in order.

    Of many samples a bit and their number are kept for each, and nothing is sorted but the parts.
    """
    out = sum(held)
    if count <= SORTED:
        order = keyed_order(count, seed=SEED, epoch=0)
        return [part.sort().values for part in order.split([count - out, *held])]
    stays = torch.ones(count, dtype=torch.bool)
    places = Permutation(count, SEED, 0)(torch.arange(count - out, count))
    stays[places] = False
    return [stays.nonzero().flatten(), *(part.sort().values for part in places.split(list(held)))]


def arranged(train: Some, validation: Some | None, test: Some | None) -> Splits:
    """Complete splits that come in pieces, as the paper does.

    Without validation images some are held out of the training images: a tenth, as of
    CIFAR-10, and at most 50,000, as of ImageNet. Without labelled test images the validation
    images are the test, as of ImageNet. With neither, `tenths`.
    """
    if validation is not None and test is not None and train.labels is not None:
        test = None if test.labels is None else test  # ImageNet's test images: nobody has labels
    score = test if test is not None else validation
    if score is None:
        return tenths(train)
    if validation is None or score is validation:
        held = 0 if train.labels is None else min(len(train) // TENTH, MOST)
        chosen, validation = held_out(train, count=held)
    else:
        chosen = replace(train, name=f"{train.name} train")
    return Splits(
        chosen,
        replace(validation, name=f"{train.name} validation"),
        replace(score, name=f"{train.name} test"),
    )
