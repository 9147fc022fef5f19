"""A folder of labelled photos of which some are broken, made in a second or two."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from counterpoint.data.quarantine import Kind

KINDS: tuple[Kind, ...] = ("truncated", "empty", "not an image")
"""How files are broken, in turn."""


@dataclass(frozen=True)
class Damaged:
    """The folder, and why each of its broken files cannot be read."""

    place: Path
    count: int
    broken: dict[str, Kind]
    """By path below the folder."""


def damaged(photos: Path, place: Path, *, count: int = 4_000, share: float = 0.02) -> Damaged:
    """Fill a folder with `count` photos in class folders and break a share of them.

    Photos are copies of those of `photos` (CLASS/*.jpg), each as often as is needed. Every
    (1 / share)-th is broken, so that each class and each split has some.
    """
    originals = sorted(photos.glob("*/*.jpg"))
    every, broken = round(1 / share), {}
    for number in range(count):
        original = originals[number % len(originals)]
        file = place / original.parent.name / f"{number // len(originals):03d}-{original.name}"
        file.parent.mkdir(parents=True, exist_ok=True)
        if number % every != every // 2:
            shutil.copyfile(original, file)  # no link: a test may write into it
            continue
        kind = KINDS[len(broken) % len(KINDS)]
        whole = original.read_bytes()
        content = {"truncated": whole[: len(whole) // 2], "empty": b"", "not an image": b"text"}
        file.write_bytes(content[kind])
        broken[f"{file.parent.name}/{file.name}"] = kind
    return Damaged(place, count, broken)
