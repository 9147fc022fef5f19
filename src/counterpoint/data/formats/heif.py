"""HEIC, the photos of iPhones: its boxes, for the size; a plugin of Pillow's decodes it."""

import importlib.util
import struct
from collections.abc import Iterator

from counterpoint.data.formats.plain import MANY, Plain, RefusedError
from counterpoint.data.formats.sequence_size import sequence_size

SUFFIXES = (".heic", ".heif", ".hif")
BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
HELD = 8  # bytes a pixel beside Pillow's own: 4 measured, and 4 for deeper colours
PADDED = 64  # pixels that a coded picture may be larger each way: whole blocks
INSTALL = "pip install 'counterpoint[heic]'"
INSIDE = {b"meta": 4, b"iprp": 0, b"ipco": 0}
"""Boxes that are gone through, and the bytes before what they hold."""


def heif_is_there() -> bool:
    """Whether the plugin is installed; it is imported when a file needs it."""
    return importlib.util.find_spec("pi_heif") is not None


def is_heif(data: bytes) -> bool:
    r"""Whether a file begins as HEIC does.

    >>> is_heif(b"\0\0\0\x1cftypheic\0\0\0\0")
    True
    """
    return data[4:8] == b"ftyp" and data[8:12] in BRANDS


def heif(data: bytes) -> Plain:
    """Compare the sizes that the file names with those of its coded pictures, and bound them.

    libheif turns the picture upright by itself.
    """
    shown: list[tuple[int, int]] = []
    coded: list[tuple[int, int]] = []
    for kind, start, stop in _boxes(data, 0, len(data)):
        if kind == b"ispe" and stop - start >= 12:
            shown.append(struct.unpack_from(">II", data, start + 4))
        if kind == b"hvcC" and (size := sequence_size(data[start:stop])) is not None:
            coded.append(size)
    if not shown:
        raise RefusedError("not a readable HEIC image: it names no size", "not an image")
    width, height = (max(size[side] for size in shown) for side in (0, 1))
    side = max(width, height) + PADDED  # of a picture that is turned, either way
    if any(max(size) > side or size[0] * size[1] > side * side for size in coded):
        raise RefusedError(
            f"its pictures are larger than the {width} x {height} it names", "too large"
        )
    _register()
    return Plain("HEIF", data, beside=len(data), per_pixel=HELD)


def _boxes(data: bytes, start: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
    """Go through boxes and through those inside of them: kind, and where the content is."""
    at, ends = start, [stop]
    for _ in range(MANY):
        while ends and at + 8 > ends[-1]:
            at = ends.pop()
        if not ends:
            return
        length, kind = struct.unpack_from(">I4s", data, at)
        head = 8
        if length == 1 and at + 16 <= ends[-1]:
            length, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        end = ends[-1] if length == 0 else at + length
        if end > ends[-1] or end < at + head:
            raise RefusedError("not a readable HEIC image: a box is cut short", "truncated")
        yield kind, at + head, end
        if kind in INSIDE:
            ends.append(end)
            at += head + INSIDE[kind]
        else:
            at = end
    raise RefusedError(f"more than {MANY:,} boxes", "too large")


def _register() -> None:
    """Tell Pillow about the plugin, once."""
    from PIL import Image

    if "HEIF" in Image.OPEN:
        return
    if not heif_is_there():
        raise RefusedError(f"HEIC needs a plugin: {INSTALL}", "not an image")
    from pi_heif import register_heif_opener

    register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=1)
