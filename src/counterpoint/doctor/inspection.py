"""One look at every image: can it be read, what is it, and which other is it like."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data import Source, UnreadableImageError
from counterpoint.data.quarantine import Kind
from counterpoint.data.workers import loader_workers
from counterpoint.doctor.hashing import difference_hash
from counterpoint.framework.permutation import drawn
from counterpoint.progress import tracked

CHUNK = 32  # files that a worker looks at before it reports
MANY = 1_000  # images in memory that are hashed together
FEW = 200  # files for which starting workers takes longer than looking at them
MOST = 2_000_000  # images of a split: ImageNet is looked at whole; our choice
THUMBNAIL = 64  # pixels of the short side from which the hash is made; a JPEG decodes no more


@dataclass(frozen=True, slots=True)
class Look:
    """What one image is."""

    sample: int
    broken: Kind | None
    form: str = ""
    mode: str = ""
    width: int = 0
    height: int = 0
    length: int = 0
    """Bytes of the file."""
    digest: bytes = b""
    likeness: int = 0
    """The difference hash."""


def look_at(source: Source, what: str, *, most: int = MOST) -> list[Look]:
    """Look at every image of a source, or at `most` that are drawn evenly from more.

    The workers of a loader share what has to be decoded.
    """
    count = len(source)
    samples = drawn(count, most, seed=0).sort().values if count > most else torch.arange(count)
    chunks = samples.split(CHUNK if source.decodes else MANY)
    workers = loader_workers(source) if len(samples) > FEW else 0
    loader = DataLoader(
        Looker(source), sampler=chunks, batch_size=None, num_workers=workers, collate_fn=_as_it_is
    )
    looks = iter(loader)
    return [look for _ in tracked(chunks, what) for look in next(looks)]


@dataclass
class Looker(Dataset[list[Look]]):
    """What a worker does."""

    source: Source

    def __getitem__(self, samples: Tensor) -> list[Look]:
        small: dict[int, Tensor] = {}
        looks = [self._look(sample, small) for sample in samples.tolist()]
        likeness = _hashes(small)
        return [replace(look, likeness=likeness.get(look.sample, 0)) for look in looks]

    def _look(self, sample: int, small: dict[int, Tensor]) -> Look:
        """Look at one image, and keep it small for its hash."""
        try:
            if sample in self.source.bad:
                return Look(sample, self.source.bad[sample])
            stored = self.source.stored(sample)
            content, picture = stored.content, stored.picture()
            short = min(picture.height, picture.width)
            small[sample] = picture.decode(min(1.0, THUMBNAIL / short))
        except UnreadableImageError as error:
            return Look(sample, error.kind)
        return Look(
            sample,
            None,
            picture.form,
            picture.mode,
            picture.width,
            picture.height,
            len(content),
            _digest(content),
        )


def _hashes(images: dict[int, Tensor]) -> dict[int, int]:
    """Hash images of one shape together."""
    shapes: dict[torch.Size, list[int]] = defaultdict(list)
    for sample, image in images.items():
        shapes[image.shape].append(sample)
    hashes: dict[int, int] = {}
    for samples in shapes.values():
        found = difference_hash(torch.stack([images[sample] for sample in samples])).tolist()
        hashes.update(zip(samples, found, strict=True))
    return hashes


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _as_it_is(looks: Any) -> Any:
    """Keep DataLoader from turning records into tensors."""
    return looks
