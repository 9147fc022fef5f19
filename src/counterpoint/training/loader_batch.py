"""What a data loader of a user's own gives: images or views, perhaps labels and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.framework.records import Images, Index, View

FORMS = (
    "needs images as bytes (b, c, h, w), or a list of views, alone or before the labels, or a "
    'dictionary with "images" or "views", and perhaps "labels" and "index"'
)
APART = 2**24  # more images than a rank has in a batch


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoaderBatch:
    """One batch of one rank."""

    images: Images | None = None
    views: tuple[View, ...] | None = None
    """The views, where the loader made them; None makes them on the device."""
    labels: Int64[Tensor, " batch"] | None = None
    index: Index | None = None
    """The sample numbers, on the host; None where the loader does not number its samples."""

    def __len__(self) -> int:
        first = self.images if self.views is None else self.views[0]
        assert first is not None
        return len(first)

    def to(self, device: torch.device) -> "LoaderBatch":
        """Send what the device works with; the numbers stay on the host."""
        images, views = self.images, self.views
        return replace(
            self,
            images=None if images is None else images.to(device, non_blocking=True),
            views=None if views is None else tuple(v.to(device, non_blocking=True) for v in views),
        )


def read_batch(batch: Any, *, views: int = 2) -> LoaderBatch:
    """Return the images, views, labels and numbers of a batch in any of the usual forms.

    `views` are those of the method: where it is one, a list of one tensor is a list of views.

    >>> images = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
    >>> read_batch([images, torch.tensor([5, 6])]).labels
    tensor([5, 6])
    """
    if isinstance(batch, LoaderBatch):
        return batch
    if isinstance(batch, Mapping):
        return _named(batch)
    listed = isinstance(batch, Sequence) and len(batch) >= min(views, 2)
    if listed and all(map(_is_view, batch)):
        return LoaderBatch(views=tuple(batch))
    if isinstance(batch, Sequence) and len(batch) in (1, 2):
        return replace(_pictures(batch[0]), labels=_labels(batch[1] if len(batch) > 1 else None))
    return _pictures(batch)


def batch_of(loader: Any) -> int | None:
    """Return the images of a batch, as a loader or its sampler says; None where none does.

    >>> from torch.utils.data import BatchSampler, DataLoader
    >>> batch_of(DataLoader(range(9), batch_sampler=BatchSampler(range(9), 4, drop_last=True)))
    4
    >>> batch_of([1, 2, 3])
    """
    for place in (loader, getattr(loader, "batch_sampler", None)):
        size = getattr(place, "batch_size", None)
        if isinstance(size, int):
            return size
    return None


def number(batch: int, images: int, *, rank: int, ranks: int) -> Index:
    """Return numbers for the samples of one rank's batch that no other batch of an epoch has.

    >>> number(3, 2, rank=0, ranks=1)
    tensor([50331648, 50331649])
    """
    return (batch * ranks + rank) * APART + torch.arange(images)


def _named(batch: Mapping[str, Any]) -> LoaderBatch:
    if unknown := sorted(set(batch) - {"images", "views", "labels", "index"}):
        raise ValueError(f"batch: got a dictionary with {unknown[0]!r}; {FORMS}")
    read = _pictures(batch.get("views", batch.get("images")))
    index = batch.get("index")
    return replace(
        read,
        labels=_labels(batch.get("labels")),
        index=None if index is None else torch.as_tensor(index).cpu().long(),
    )


def _pictures(given: Any) -> LoaderBatch:
    if isinstance(given, Tensor) and given.dtype == torch.uint8 and given.dim() == 4:
        return LoaderBatch(images=given)
    if isinstance(given, Sequence) and given and all(map(_is_view, given)):
        return LoaderBatch(views=tuple(given))
    if isinstance(given, Tensor) and given.is_floating_point():
        raise ValueError(
            f"batch: got images as {given.dtype}, and views are made of bytes: leave out ToTensor "
            "and Normalize (torchvision's v2.PILToTensor() gives bytes), or make the views in "
            "your dataset: ViewTransform(method)"
        )
    what = f"a tensor {tuple(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
    raise ValueError(f"batch: got {what}; {FORMS}")


def _labels(given: Any) -> Tensor | None:
    return None if given is None else torch.as_tensor(given).long()


def _is_view(given: object) -> bool:
    return isinstance(given, Tensor) and given.is_floating_point() and given.dim() >= 4
