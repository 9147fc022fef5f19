"""An image file without what is not pixels, and what decoding it will cost."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from counterpoint.data.quarantine import Kind

BUDGET = 256 << 20  # bytes that decoding one picture may hold; a worker has one at a time
ORIENTATION = 0x0112  # EXIF: how the camera was held
WHOLE = {1: "B", 3: "H", 4: "I"}  # types of TIFF that hold whole numbers
MANY = 1 << 12  # segments, chunks or tags of metadata; a photo has some dozens


class RefusedError(ValueError):
    """A file that is not an image, or one that would cost too much; its name is not known here."""

    def __init__(self, why: str, kind: Kind) -> None:
        super().__init__(why)
        self.kind: Kind = kind


@dataclass(frozen=True, slots=True)
class Plain:
    """What Pillow is given.

    Pillow reads metadata into objects: a header of a few kilobytes can ask for gigabytes, or for
    minutes. We want one number of it, so Pillow is given the pixels alone.
    """

    form: str
    """As Pillow calls it."""
    data: bytes
    orientation: int = 1
    """1 to 8, by EXIF."""
    beside: int = 0
    """Bytes that decoding holds beside the pixels, however few of them are asked for."""
    per_pixel: int = 0
    """Bytes that decoding holds for each pixel beside those of the image itself."""


def without(data: bytes, dropped: list[tuple[int, int]]) -> bytes:
    """Cut some ranges out of a file; most files have none to cut.

    >>> without(b"abcdef", [(1, 3), (4, 5)])
    b'adf'
    """
    if not dropped:
        return data
    starts = [0, *(stop for _, stop in dropped)]
    stops = [*(start for start, _ in dropped), len(data)]
    view = memoryview(data)
    return b"".join(view[a:b] for a, b in zip(starts, stops, strict=True))


def orientation_of(exif: bytes | memoryview) -> int:
    """Read how the camera was held from EXIF, and nothing else of it; 1 where it does not say.

    >>> entry = struct.pack("<HHIHH", ORIENTATION, 3, 1, 6, 0)
    >>> orientation_of(b"II" + struct.pack("<HIH", 42, 8, 1) + entry)
    6
    """
    data = bytes(exif[6:] if bytes(exif[:6]) == b"Exif\0\0" else exif)
    try:
        order = {b"II\x2a\x00": "<", b"MM\x00\x2a": ">"}[data[:4]]
        for tag, kind, count, value in tags(data, order):
            if tag == ORIENTATION and count == 1 and kind in WHOLE:
                found: int = struct.unpack_from(order + WHOLE[kind], data, value)[0]
                return found if 1 <= found <= 8 else 1
    except (KeyError, struct.error):  # damaged: the picture is shown as it is stored
        pass
    return 1


def tags(data: bytes, order: str) -> Iterator[tuple[int, int, int, int]]:
    """Go through the first directory of a TIFF: tag, type, count, and where the value field is."""
    (start,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, start)
    for number in range(count):
        at = start + 2 + 12 * number
        yield (*struct.unpack_from(f"{order}HHI", data, at), at + 8)
