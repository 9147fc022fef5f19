"""One look at every image: can it be read, what is it, and which other is it like."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from counterpoint.data import Files, Source, UnreadableImageError
from counterpoint.data.pictures import open_picture
from counterpoint.data.quarantine import Kind
from counterpoint.doctor.hashing import difference_hash
from counterpoint.progress import tracked

CHUNK = 32  # files that a worker looks at before it reports
MANY = 1_000  # images in memory that are hashed together
FEW = 200  # files for which starting workers takes longer than looking at them
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


def look_at(source: Source | Files, what: str) -> list[Look]:
    """Look at every image of a source; files by as many processes as there are cores."""
    looks = _at_images(source, what) if isinstance(source, Source) else _at_files(source, what)
    return [look for some in looks for look in some]


def _at_images(source: Source, what: str) -> Iterator[list[Look]]:
    broken = {bad.sample: bad.kind for bad in source.bad}
    _, height, width = source.images.shape[1:]
    for part in tracked(torch.arange(len(source)).split(MANY), what):
        images = source.images[part].contiguous()
        likeness = difference_hash(images).tolist()
        digests = [_digest(image.numpy().tobytes()) for image in images]
        size = {"width": width, "height": height, "length": images[0].numel()}
        yield [
            Look(n, broken.get(n), "in memory", "RGB", **size, digest=digest, likeness=like)
            for n, digest, like in zip(part.tolist(), digests, likeness, strict=True)
        ]


def _at_files(files: Files, what: str) -> Iterator[list[Look]]:
    chunks = torch.arange(len(files)).split(CHUNK)
    cores = len(os.sched_getaffinity(0)) if len(files) > FEW else 0
    loader = DataLoader(
        Looker(files), sampler=chunks, batch_size=None, num_workers=cores, collate_fn=_as_it_is
    )
    looks = iter(loader)
    for _ in tracked(chunks, what):
        yield next(looks)


@dataclass
class Looker(Dataset[list[Look]]):
    """What a worker does."""

    files: Files

    def __getitem__(self, samples: Tensor) -> list[Look]:
        places = self.files.places[samples].tolist()
        return [self._look(n, place) for n, place in zip(samples.tolist(), places, strict=True)]

    def _look(self, sample: int, place: int) -> Look:
        try:
            content = self.files.store.content(place)
            picture = open_picture(content, "")
            form, mode = picture.form, picture.mode
            short = min(picture.height, picture.width)
            pixels = picture.decode(min(1.0, THUMBNAIL / short))
        except UnreadableImageError as error:
            return Look(sample, error.kind)
        return Look(
            sample,
            None,
            form,
            mode,
            picture.width,
            picture.height,
            len(content),
            _digest(content),
            int(difference_hash(pixels[None])),
        )


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _as_it_is(looks: Any) -> Any:
    """Keep DataLoader from turning records into tensors."""
    return looks
