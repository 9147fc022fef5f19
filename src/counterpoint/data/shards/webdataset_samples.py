"""The samples of a tar in webdataset's layout: members that share a name up to its first dot."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from counterpoint.data.formats import SUFFIXES
from counterpoint.data.packed_names import shown
from counterpoint.data.pictures import MOST_FILE
from counterpoint.data.shards.webdataset_headers import Member, ReadRange

MOST_LABEL = 20  # bytes of a .cls: a number and a line end
MOST_JSON = 1 << 16  # bytes of a .json that is read for a label
LABELS = 1 << 31  # an index keeps them in 32 bits
KEYS = ("label", "cls")
IMAGES = tuple(suffix[1:] for suffix in SUFFIXES)


class Part(NamedTuple):
    """A member of a sample: what comes after the first dot, and where it is."""

    suffix: str
    member: Member


@dataclass(slots=True)
class TarSamples:
    """The images of a tar in its order; labels where all have one."""

    starts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    others: int = 0
    """Images that are not taken, since a sample has one."""
    too_large: int = 0
    """Images that are not taken, since they are larger than any that is read."""

    @property
    def has_labels(self) -> bool:
        return len(self.labels) == len(self.starts)


def tar_samples(members: Iterable[Member], read: ReadRange) -> TarSamples:
    """Take the image and the label of each sample; nothing else in the tar is opened.

    The label is the number in `.cls`, or `label` or `cls` of `.json`. Whatever would have to be
    unpickled (`.pyd`, `.pkl`, `.npy`) is not looked at.
    """
    found = TarSamples()
    for parts in _samples(members):
        images = [part for part in parts if part.suffix.split(".")[-1] in IMAGES]
        if not images:
            continue
        plain = [part for part in images if part.suffix in IMAGES]  # `jpg` before `mask.png`
        image = (plain or images)[0].member
        if image.size > MOST_FILE:
            found.too_large += 1
            continue
        found.starts.append(image.start)
        found.sizes.append(image.size)
        found.names.append(printable(image.name))
        found.others += len(images) - 1
        if (label := _label(parts, read)) is not None:
            found.labels.append(label)
    return found


def _samples(members: Iterable[Member]) -> Iterator[list[Part]]:
    """Put members together while their key stays: as webdataset does, nothing is searched for."""
    last: bytes | None = None
    parts: list[Part] = []
    for member in members:
        key, suffix = split_name(member.name)
        if key is None:
            continue
        if key != last and parts:
            yield parts
            parts = []
        last = key
        if len(parts) < 64:  # a sample of more is not one, and is not to fill the memory
            parts.append(Part(suffix, member))
    if parts:
        yield parts


def split_name(name: bytes) -> tuple[bytes | None, str]:
    """Cut a name at the first dot of its last part; None where there is no key or no dot.

    >>> split_name(b"a.b/000123.seg.PNG"), split_name(b"._x.jpg")
    ((b'a.b/000123', 'seg.png'), (None, ''))
    """
    folder, slash, last = name.rpartition(b"/")
    key, dot, suffix = last.partition(b".")
    if not key or not dot:
        return None, ""
    return folder + slash + key, shown(suffix).lower()


def _label(parts: list[Part], read: ReadRange) -> int | None:
    """Read the label of a sample, from what is short enough to be one."""
    for part in parts:
        if part.suffix == "cls" and part.member.size <= MOST_LABEL:
            text = read(part.member.start, part.member.size).strip()
            return _in_range(int(text)) if text.isdigit() else None
    for part in parts:
        if part.suffix == "json" and part.member.size <= MOST_JSON:
            return _json_label(read(part.member.start, part.member.size))
    return None


def _json_label(data: bytes) -> int | None:
    """Take a whole number from an object.

    >>> _json_label(b'{"label": 3}'), _json_label(b"[" * 60_000)
    (3, None)
    """
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):  # no JSON, no text, or nested without end
        return None
    values = [said.get(key) for key in KEYS] if isinstance(said, dict) else []
    whole = (value for value in values if type(value) is int)
    return _in_range(next(whole, -1))


def _in_range(label: int) -> int | None:
    return label if 0 <= label < LABELS else None


def printable(name: bytes) -> str:
    r"""Write a member's name so that it is harmless: inside the tar, on one line.

    >>> printable(b"../../etc/pass\nwd.jpg"), printable(b"/a/./b.jpg")
    ('etc/pass?wd.jpg', 'a/b.jpg')
    """
    text = "".join(letter if letter.isprintable() else "?" for letter in shown(name))
    return "/".join(part for part in text.split("/") if part not in ("", ".", ".."))
