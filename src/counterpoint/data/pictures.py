"""Image files of any size, format and colour mode, as red, green and blue bytes.

The header is read first: size, format and orientation are known, and bounded, before a single
pixel is decoded. JPEG files can be decoded at 1/2, 1/4 or 1/8 of their size for a fraction of
the work; docs/decisions compares the decoders.
"""

import io
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor

from counterpoint.data.quarantine import Kind

FORMATS = ("JPEG", "PNG", "WEBP")
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
MOST_PIXELS = 1 << 26  # 67 megapixels decoded: 200 MB as bytes
ORIENTATION = 0x0112  # EXIF: how the camera was held, and what makes the picture upright
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
BROKEN = (OSError, SyntaxError, ValueError, TypeError, IndexError, struct.error, EOFError)
"""What Pillow raises on files that are damaged, by where the damage is."""
PAPER = (255, 255, 255)  # what shows through transparent pixels: white, as in a browser


class UnreadableImageError(ValueError):
    """A file that is no image, a broken one, or one too large to decode."""

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind: Kind = kind

    def __reduce__(self) -> tuple[type, tuple[str, Kind]]:
        return type(self), (str(self), self.kind)  # from a worker to the process that trains


@dataclass(frozen=True, slots=True, eq=False)
class FilePicture:
    """An image file whose header has been read; height and width are as people see it."""

    name: str
    image: Image.Image
    orientation: int
    height: int
    width: int

    def decode(self, scale: float) -> UInt8[Tensor, "3 height width"]:
        """Give the pixels; of a JPEG perhaps fewer, but at least `scale` of them each way."""
        try:
            self.image.draft(self.image.mode, _at_least(self.image.size, scale))
            if math.prod(self.image.size) > MOST_PIXELS:
                raise UnreadableImageError(
                    f"{self.name}: {self._size} pixels is too large", "too large"
                )
            turn = UPRIGHT.get(self.orientation)
            image = self.image if turn is None else self.image.transpose(turn)
            pixels = np.array(_rgb(image))
        except UnreadableImageError:
            raise
        except BROKEN as error:
            raise UnreadableImageError(f"{self.name}: {error}", "truncated") from error
        return torch.from_numpy(pixels).permute(2, 0, 1)

    @property
    def _size(self) -> str:
        return f"{self.width} x {self.height}"


def open_picture(data: bytes, name: str) -> FilePicture:
    """Read the header of a file; nothing is decoded yet."""
    if not data:
        raise UnreadableImageError(f"{name}: the file is empty", "empty")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        orientation = _orientation(image)
    except Image.DecompressionBombError as error:
        raise UnreadableImageError(f"{name}: {error}", "too large") from error
    except BROKEN as error:
        what = f"{name}: not a readable {', '.join(FORMATS)} image"
        raise UnreadableImageError(what, "not an image") from error
    width, height = image.size
    if width < 1 or height < 1:
        raise UnreadableImageError(f"{name}: {width} x {height} pixels", "no pixels")
    seen = (width, height) if orientation >= 5 else (height, width)
    return FilePicture(name, image, orientation, *seen)


def _orientation(image: Image.Image) -> int:
    """Read how the camera was held, from the header alone: Pillow would decode a PNG for it."""
    exif = Image.Exif()
    exif.load(image.info.get("exif", b""))
    orientation = exif.get(ORIENTATION, 1)
    return orientation if orientation in UPRIGHT else 1


def read_picture(path: Path) -> FilePicture:
    """Read a file and its header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableImageError(f"{path}: {error.strerror}", "missing") from error
    return open_picture(data, str(path))


def _at_least(size: tuple[int, int], scale: float) -> tuple[int, int]:
    width, height = size
    return math.ceil(width * scale), math.ceil(height * scale)


def _rgb(image: Image.Image) -> Image.Image:
    """Convert any mode: grey, palette, CMYK, 16 bits, and transparency on white paper."""
    if image.mode == "RGB":
        return image
    if image.mode.startswith("I"):  # Pillow would clip 16 bits where they should be scaled
        levels = np.asarray(image).astype(np.uint32) >> 8
        return Image.fromarray(levels.clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        paper = Image.new("RGBA", image.size, PAPER)
        return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB")
