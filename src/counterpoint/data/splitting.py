"""Which images are for training, which for choosing, and which for the score at the end.

Nothing here is drawn: the same images always give the same splits.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.source import Source
from counterpoint.data.splits import Splits
from counterpoint.framework.permutation import SORTED, Permutation
from counterpoint.framework.philox import keyed_order

SEED = 0  # the paper does not say which images it holds out; these are ours, for everyone
TENTH = 10  # section 4, CIFAR-10: "a 45,000/5,000 training/validation split"
MOST = 50_000  # section 4, ImageNet: "our own 50,000 image validation set from the training set"


def hold_out(images: Source, *, count: int, by_shard: bool = True) -> tuple[Source, Source]:
    """Hold some images out of a training set, in no order that the files have."""
    train, validation = _held_out(images, {"validation": count}, by_shard=by_shard)
    return train, validation


def tenths(images: Source, *, by_shard: bool = True) -> Splits:
    """Split what comes in one piece: all of it to train on, or eight in ten with labels.

    >>> labels = torch.arange(30) % 3
    >>> from counterpoint.data.array_source import ArraySource
    >>> tenths(ArraySource("some", torch.zeros(30, 3, 8, 8, dtype=torch.uint8), labels))
    some train: 24 images, 3 x 8 x 8, 3 classes, 3 to choose by, 3 to score
    """
    held = len(images) // TENTH if images.has_labels else 0
    if held == 0:  # nothing is copied: the images may be many
        none = torch.arange(0)
        whole = images.named(f"{images.name} train")
        return Splits(whole, images.subset("validation", none), images.subset("test", none))
    return Splits(*_held_out(images, {"validation": held, "test": held}, by_shard=by_shard))


def _held_out(images: Source, held: Mapping[str, int], *, by_shard: bool) -> list[Source]:
    """Hold out parts by name and size; return the rest, and each part.

    Of shards it is a share of each, so that a part is read shard by shard as the rest is. Without
    `by_shard` they are the images that would be held out of the same ones in memory.
    """
    if by_shard and isinstance(images, ShardSource) and not len(images.left_out):
        return [*images.windows(["train", *held], [*held.values()], SEED)]
    parts = _parts(len(images), *held.values())
    chosen = [images.subset(name, part) for name, part in zip(held, parts, strict=True)]
    return [images.without("train", torch.cat(parts)), *chosen]


def _parts(count: int, *held: int) -> list[Int64[Tensor, " part"]]:
    """Return the samples of each part that is held out, as numbers in order.

    Nothing is as long as the data, but where it is so small that it sorts in a second.
    """
    out = sum(held)
    if count <= SORTED:
        places = keyed_order(count, seed=SEED, epoch=0)[count - out :]
    else:
        places = Permutation(count, SEED, 0)(torch.arange(count - out, count))
    return [part.sort().values for part in places.split(list(held))]


def arranged(
    train: Source, validation: Source | None, test: Source | None, *, by_shard: bool = True
) -> Splits:
    """Complete splits that come in pieces, as the paper does.

    Without validation images some are held out of the training images: a tenth, as of
    CIFAR-10, and at most 50,000, as of ImageNet. Without labelled test images the validation
    images are the test, as of ImageNet. With neither, `tenths`.
    """
    if validation is not None and test is not None and train.has_labels:
        test = test if test.has_labels else None  # ImageNet's test images: nobody has labels
    score = test if test is not None else validation
    if score is None:
        return tenths(train, by_shard=by_shard)
    if validation is None or score is validation:
        held = min(len(train) // TENTH, MOST) if train.has_labels else 0
        chosen, validation = hold_out(train, count=held, by_shard=by_shard)
    else:
        chosen = train.named(f"{train.name} train")
    return Splits(
        chosen,
        validation.named(f"{train.name} validation"),
        score.named(f"{train.name} test"),
    )
