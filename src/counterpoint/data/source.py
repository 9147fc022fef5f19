"""The contract for images: what every part of the library may ask of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from counterpoint.data.batch import Batch
from counterpoint.data.quarantine import Kind
from counterpoint.framework.records import Cuts, Draw, Picture, Shape

Cut = Callable[[Sequence[Picture], Draw], Cuts]
"""How pictures become images of one size: `cut` of the views."""

SampleNumbers = Int64[Tensor, " some"]
"""Numbers of samples, few or many; never all of them."""


@runtime_checkable
class StoredPicture(Picture, Protocol):
    """A picture, and how it is stored."""

    @property
    def form(self) -> str:
        """The file format."""

    @property
    def mode(self) -> str:
        """The colour mode, as Pillow calls it."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes until it is decoded."""


@runtime_checkable
class StoredImage(Protocol):
    """One image as it is stored."""

    @property
    def content(self) -> bytes:
        """The bytes of a file, or of the pixels."""

    def picture(self) -> StoredPicture:
        """Read the header; nothing is decoded yet."""

    def loaded(self) -> "StoredImage":
        """Return the same with its bytes in memory, for whoever needs both them and the picture."""


@runtime_checkable
class Shards(Protocol):
    """Samples that lie together, and are cheap to read only together."""

    @property
    def counts(self) -> Int64[Tensor, " shard"]:
        """How many samples of the source each shard has; they are numbered shard after shard."""

    @property
    def mixed(self) -> bool:
        """Whether the samples were mixed over all shards when those were written."""

    @property
    def most_open(self) -> int | None:
        """How many shards a process holds at a time; None where a sample is read alone."""

    def expect(self, shards: Sequence[int], /) -> None:
        """Say which shards are read next, in this order."""


@runtime_checkable
class Source(Protocol):
    """Images by number: the number of a sample is its place here.

    Nothing in it is as long as the data, so that five billion samples can be behind it: labels are
    asked for some samples, what is bad is a few, and what is held out is named.
    """

    @property
    def name(self) -> str: ...

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the labels, where they are known."""

    @property
    def has_labels(self) -> bool: ...

    @property
    def bad(self) -> Mapping[int, Kind]:
        """Samples that are known to be unreadable, and why: others stand in for them."""

    @property
    def one_shape(self) -> Shape | None:
        """The shape of every image; None where sizes vary: then pictures are cut to one."""

    @property
    def decodes(self) -> bool:
        """Whether images are decoded when they are asked for.

        This is work that the workers of a loader share. It may fail: then another image stands in.
        """

    @property
    def shards(self) -> Shards | None:
        """How the samples lie together; None where any can be read alone."""

    def __len__(self) -> int: ...

    def labels_of(self, samples: SampleNumbers, /) -> Int64[Tensor, " some"]:
        """Return the labels of some samples; an error where there are none."""

    def read(self, cut: Cut | None, draw: Draw, /, *, substitute: bool = True) -> Batch:
        """Read the samples of a draw: images where all have one shape, else the cuts of views.

        Another image stands in for each that cannot be read; or, without `substitute`, it is left
        out of the batch. `cut` may be None where all images have one shape.
        """

    def stored(self, sample: int, /) -> StoredImage:
        """Read one image as it is stored; an `UnreadableImageError` where that fails."""

    def path(self, sample: int, /) -> str | None:
        """Name the file of a sample, where there is one."""

    def subset(self, name: str, samples: SampleNumbers, /) -> "Source":
        """Take some samples, in the order given; what is bad keeps its place among them."""

    def without(self, name: str, samples: SampleNumbers, /) -> "Source":
        """Take all samples but some, in their order."""

    def first(self, count: int, /) -> "Source":
        """Take the first samples, at most `count`."""

    def named(self, name: str, /) -> "Source":
        """Return the same source under another name."""

    def marked(self, samples: Collection[int], /) -> "Source":
        """Note samples that are known to be bad."""

    def fingerprint(self) -> str:
        """Say which images these are: a copy is the same, an edit is not."""

    def describe(self) -> dict[str, Any]:
        """Say what these images are, as plain data: `source_record` names its keys."""


def all_labels(source: Source) -> Int64[Tensor, " sample"]:
    """Return the label of every sample, for whoever needs them all: probes do."""
    return source.labels_of(torch.arange(len(source)))


def read_images(
    source: Source, samples: SampleNumbers
) -> UInt8[Tensor, "some channel height width"]:
    """Return some images of a source whose images have one shape.

    >>> from counterpoint.data.array_source import ArraySource
    >>> source = ArraySource("noise", torch.zeros(5, 3, 8, 8, dtype=torch.uint8))
    >>> read_images(source, torch.tensor([4, 1])).shape
    torch.Size([2, 3, 8, 8])
    """
    images = source.read(None, Draw(0, 0, samples)).images
    assert isinstance(images, Tensor), f"{source!r}: images of one shape are read as they are"
    return images


def class_count(labels: Int64[Tensor, " sample"]) -> int:
    """Count the classes of labels that are numbered from 0."""
    return int(labels.max()) + 1 if len(labels) else 0


def all_but(count: int, samples: SampleNumbers) -> Int64[Tensor, " rest"]:
    """Return the numbers below `count` that are not among some.

    >>> all_but(5, torch.tensor([3, 0]))
    tensor([1, 2, 4])
    """
    stays = torch.ones(count, dtype=torch.bool)
    stays[samples] = False
    return stays.nonzero().flatten()


def renumbered(bad: Mapping[int, Kind], samples: SampleNumbers) -> dict[int, Kind]:
    """Return what is bad among some samples, by its place among them."""
    if not bad:
        return {}
    among = torch.isin(samples, torch.tensor(sorted(bad), dtype=torch.int64))
    places = among.nonzero().flatten().tolist()
    return {place: bad[int(samples[place])] for place in places}
