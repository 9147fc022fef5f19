"""The items of a torch Dataset, of a Hugging Face dataset or of a list, as a store of images."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int64
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from counterpoint.data.dataset_item import LABELS, image_in, label_in, stored_image
from counterpoint.data.encoded_source import EncodedSource, ItemLabels
from counterpoint.data.identity import Identity, sampled_places
from counterpoint.data.notes import one_line
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.quarantine import Kind
from counterpoint.data.source import StoredImage
from counterpoint.pulse import beat

TRIED = 8  # items that are looked at first, each twice; our choice


@dataclass(frozen=True, slots=True, eq=False)
class DatasetItems:
    """Items by number, each asked for when it is read."""

    dataset: Any
    kind: str = "dataset"

    def __len__(self) -> int:
        return len(self.dataset)

    def path(self, place: int) -> Path | None:
        """Name the file of an item that is a path; other items have no name."""
        item = self.dataset[place] if isinstance(self.dataset, list | tuple) else None
        return Path(item) if isinstance(item, str | Path) else None

    def stored(self, place: int) -> StoredImage:
        try:
            return self.item(place)
        except UnreadableImageError:
            raise
        except Exception as error:  # whatever a user's own code raises for a broken item
            raise UnreadableImageError(f"item {place}: {error!r}", _why(error)) from error
        finally:
            beat()

    def item(self, place: int) -> StoredImage:
        """Read one item; what is wrong with it is raised as it is."""
        return stored_image(image_in(self.dataset[place]), f"item {place}")

    @property
    def unopened(self) -> dict[str, int]:
        return {}

    @property
    def shut(self) -> tuple[str, ...]:
        return ()

    def identity(self) -> Identity:
        """Know items by how many they are, and by image and label of some of them."""
        digest = hashlib.blake2b(digest_size=32)
        for place in sampled_places(len(self)):
            try:
                item = self.dataset[place]
                known = stored_image(image_in(item), "").content, label_in(item)
            except Exception:  # noqa: BLE001 (a user's own code, as in `stored`)
                known = b"unreadable", None
            digest.update(hashlib.blake2b(known[0], digest_size=32).digest())
            digest.update(str(known[1]).encode())
        return Identity(str(len(self)).encode(), digest.digest())


@dataclass(frozen=True, slots=True, eq=False)
class DatasetLabels:
    """Labels that stand in the items alone: reading one reads its item."""

    dataset: Any

    def __getitem__(self, places: Int64[Tensor, " some"]) -> Int64[Tensor, " some"]:
        return torch.tensor([self._label(place) for place in places.tolist()], dtype=torch.int64)

    def _label(self, place: int) -> int:
        why = ""
        try:
            found = label_in(self.dataset[place])
        except Exception as error:  # noqa: BLE001 (a user's own code)
            found, why = None, f" ({type(error).__name__}: {one_line(error)})"
        if found is None:
            raise ValueError(
                f"data: item {place} has no label; needs a whole number, 0 or more{why}"
            )
        return found


def dataset_source(dataset: Any, name: str) -> EncodedSource:
    """Open a map-style dataset: anything with a length whose items are images, by number."""
    if isinstance(dataset, list | tuple):
        _load(dataset)
    store = DatasetItems(dataset)
    if not len(store):
        raise ValueError(f"data: {name} has no items; needs some images")
    labelled = _look(store, name)
    classes = _classes(dataset)
    labels = _labels(dataset, len(store), labelled=labelled)
    return EncodedSource(
        name, store, torch.arange(len(store)), labels, None if labels is None else classes
    )


def _look(store: DatasetItems, name: str) -> bool:
    """Look at the first items: are they images, the same each time, and have they labels?"""
    sound, labelled = 0, True
    last: Exception | None = None
    for place in range(min(TRIED, len(store))):
        try:
            first, again = store.item(place).content, store.item(place).content
            label = label_in(store.dataset[place])
        except Exception as error:  # noqa: BLE001 (a few may be broken; if all are, it is said)
            last = error
            continue
        sound += 1
        labelled &= label is not None
        if first != again:
            raise ValueError(
                f"data: item {place} of {name} is another image each time it is read; needs a "
                "dataset without random transforms: the method's views have them, and a run that "
                "resumes sees what it would have seen"
            )
    if not sound:
        raise TypeError(f"data: the items of {name} cannot be taken as images: {last}") from last
    return labelled


def _labels(dataset: Any, count: int, *, labelled: bool) -> Tensor | ItemLabels | None:
    """Find the labels: a list beside the images, a column, or in the items."""
    for listed in (*(getattr(dataset, n, None) for n in ("targets", "labels")), _column(dataset)):
        if listed is None or isinstance(listed, str):
            continue
        try:
            labels = torch.as_tensor(listed)
        except (TypeError, ValueError, RuntimeError):  # it is something else of that name
            continue
        whole = not labels.is_floating_point() and labels.dtype != torch.bool
        if tuple(labels.shape) == (count,) and whole:
            return labels.long() if int(labels.min()) >= 0 else None
    return DatasetLabels(dataset) if labelled else None


def _column(dataset: Any) -> Any:
    """Read the column of labels of a Hugging Face dataset, without its images."""
    if not hasattr(dataset, "select_columns"):
        return None
    name = next((name for name in LABELS if name in dataset.column_names), None)
    return None if name is None else dataset.select_columns([name])[:][name]


def _classes(dataset: Any) -> tuple[str, ...] | None:
    """Find the names of the labels: of a column's feature, or as torchvision has them."""
    features = getattr(dataset, "features", None)
    named = features if isinstance(features, Mapping) else {}
    feature = next((named[name] for name in LABELS if name in named), None)
    found = getattr(feature, "names", None) or getattr(dataset, "classes", None)
    if not isinstance(found, list | tuple) or not all(isinstance(name, str) for name in found):
        return None
    return tuple(found)


def _load(items: list[Any] | tuple[Any, ...]) -> None:
    """Decode images that are only opened: workers that share an open file read it wrongly."""
    for image in map(image_in, items):
        if isinstance(image, Image.Image):
            try:
                image.load()
            except OSError:  # it is met again when it is read, and set aside
                continue


def _why(error: Exception) -> Kind:
    """Say what kind of a bad image an error means."""
    if isinstance(error, FileNotFoundError | PermissionError):
        return "missing"
    if isinstance(error, Image.DecompressionBombError):
        return "too large"
    if isinstance(error, OSError) and not isinstance(error, UnidentifiedImageError):
        return "truncated"
    return "not an image"


def dataset_name(dataset: Any) -> str:
    """Name a dataset that has no name of its own.

    >>> dataset_name([])
    'images'
    """
    if isinstance(dataset, list | tuple):
        return "images"
    info = getattr(dataset, "info", None)
    said = getattr(info, "dataset_name", None)
    return said if isinstance(said, str) and said else type(dataset).__name__
