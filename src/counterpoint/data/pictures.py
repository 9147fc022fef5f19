"""Image files of any size, format and colour mode, as red, green and blue bytes.

The header is read first: size, format and orientation are known, and what decoding will hold in
memory is bounded, before a single pixel is decoded. JPEG files can be decoded at 1/2, 1/4 or 1/8
of their size for a fraction of the work; docs/decisions compares the decoders.
"""

import io
import math
import os
import struct
import warnings
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from counterpoint.data.formats import BUDGET, RefusedError, only_pixels
from counterpoint.data.quarantine import Kind
from counterpoint.data.strips import upright
from counterpoint.pulse import beat

MOST_FILE = 64 << 20  # bytes of a file, which is in memory twice while it is decoded
CORE = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2}  # bytes a pixel in Pillow; others take 4
OUT = 6  # bytes a pixel: red, green and blue, and the copy that resampling makes of them
SHRINKS = (1, 2, 4, 8)  # as a JPEG can be decoded smaller
BROKEN = (
    *(OSError, SyntaxError, ValueError, TypeError, IndexError, KeyError, AttributeError),
    *(struct.error, zlib.error, EOFError, OverflowError, RuntimeError),
)
"""What Pillow raises on files that are damaged, by where the damage is."""


class UnreadableImageError(ValueError):
    """A file that is not an image, a broken one, or one too large to decode."""

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind: Kind = kind

    def __reduce__(self) -> tuple[type, tuple[str, Kind]]:
        return type(self), (str(self), self.kind)  # from a worker to the process that trains


@dataclass(frozen=True, slots=True, eq=False)
class FilePicture:
    """An image file whose header has been read; height and width are as people see it."""

    name: str
    data: bytes
    """The file without its metadata."""
    form: str
    mode: str
    """As Pillow calls them."""
    orientation: int
    height: int
    width: int
    beside: int
    per_pixel: int
    """What decoding holds in memory besides the image, whatever its scale, and for each pixel."""
    opened: list[Image.Image] = field(repr=False)
    """The image of the header, until it is decoded: pixels are held by nobody afterwards."""

    @property
    def nbytes(self) -> int:
        """Count the bytes that wait to be decoded."""
        return len(self.data)

    def decode(self, scale: float) -> UInt8[Tensor, "3 height width"]:
        """Return the pixels; of a large picture perhaps fewer, but at least `scale` each way."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is damaged is said by the kind
                image = self.opened.pop() if self.opened else _opened(self.data, self.form)
                whole = image.size
                image.draft(image.mode, _at_least(whole, scale))
                left = max(a / b for a, b in zip(whole, image.size, strict=True)) * scale
                return upright(image, self.orientation, shrink=self._shrink(image, left))
        except UnreadableImageError:
            raise
        except BROKEN as error:
            raise UnreadableImageError(f"{self.name}: {error}", "truncated") from error
        finally:
            beat()

    def _shrink(self, image: Image.Image, scale: float) -> int:
        """Return by how much to shrink the decoded pixels so that all fits: mostly not at all."""
        pixels = math.prod(image.size)
        held = len(self.data) + self.beside + (CORE.get(image.mode, 4) + self.per_pixel) * pixels
        needed = 0
        for shrink in (s for s in SHRINKS if s * scale <= 1 or s == 1):
            needed = held + OUT * pixels // shrink**2
            if needed <= BUDGET:
                return shrink
        raise UnreadableImageError(
            f"{self.name}: {self.width} x {self.height} pixels is too large: decoding would hold "
            f"{needed >> 20:,} MB, at most {BUDGET >> 20}; save it smaller, or as a JPEG",
            "too large",
        )


@dataclass(frozen=True, slots=True, eq=False)
class FileOnDisk:
    """An image file that is read when it is asked for.

    Nobody holds its bytes while a picture is made of them: only the pixels' share is kept.
    """

    path: Path

    @property
    def content(self) -> bytes:
        return read_file(self.path)

    def picture(self) -> FilePicture:
        return open_picture(read_file(self.path), str(self.path))

    def loaded(self) -> "StoredFile":
        return StoredFile(read_file(self.path), str(self.path))


@dataclass(frozen=True, slots=True, eq=False)
class StoredFile:
    """The bytes of an image file, and its name."""

    content: bytes
    name: str

    def picture(self) -> FilePicture:
        return open_picture(self.content, self.name)

    def loaded(self) -> "StoredFile":
        return self


def open_picture(data: bytes, name: str) -> FilePicture:
    """Read the header of a file; nothing is decoded yet."""
    beat()
    if not data:
        raise UnreadableImageError(f"{name}: the file is empty", "empty")
    if len(data) > MOST_FILE:
        raise too_long(name, len(data))
    try:
        found = only_pixels(data)
    except RefusedError as error:
        raise UnreadableImageError(f"{name}: {error}", error.kind) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures: we bound them
            image = _opened(found.data, found.form)
    except Image.DecompressionBombError as error:
        raise UnreadableImageError(f"{name}: {error}", "too large") from error
    except BROKEN as error:
        what = f"{name}: not a readable {found.form} image"
        raise UnreadableImageError(what, "not an image") from error
    width, height = image.size
    if width < 1 or height < 1:
        raise UnreadableImageError(f"{name}: {width} x {height} pixels", "no pixels")
    seen = (width, height) if found.orientation >= 5 else (height, width)
    return FilePicture(
        name,
        found.data,
        found.form,
        image.mode,
        found.orientation,
        *seen,
        found.beside,
        found.per_pixel,
        [image],
    )


def _opened(data: bytes, form: str) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=(form,))


def too_long(name: str, length: int) -> UnreadableImageError:
    """Say that a file is longer than what is read."""
    return UnreadableImageError(
        f"{name}: {length >> 20:,} MB is too large; files of up to {MOST_FILE >> 20} MB are read",
        "too large",
    )


def read_file(path: Path) -> bytes:
    """Read a file, but no more of it than a picture may have."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_FILE:
                raise too_long(str(path), size)
            return file.read(size)
    except OSError as error:
        raise UnreadableImageError(f"{path}: {error.strerror}", "missing") from error


def _at_least(size: tuple[int, int], scale: float) -> tuple[int, int]:
    width, height = size
    return math.ceil(width * scale), math.ceil(height * scale)
