"""Small pictures inside the page: one by one, and all on one sheet."""

import base64
import io
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageOps
from torch import Tensor

from counterpoint.data import Source
from counterpoint.data.source import StoredPicture

SIDE = 96  # pixels; a neighbour on a phone, and sharp enough at 2,000 of them in memory
QUALITY = 80  # of WebP; our choice: at this size nobody sees the difference
SHEET_QUALITY = 60  # on the sheet of all images, where bytes count
COLUMNS = 50
SMALL = 32  # pixels of a side up to which images are shown in whole pixels, as they are


@dataclass(frozen=True, slots=True)
class Sheet:
    """All thumbnails in one picture: the page shows a part of it at a time."""

    uri: str
    side: int
    columns: int
    rows: int


def thumbnails(source: Source) -> list[Image.Image]:
    """Decode every image of a source as a small picture; small images stay as they are."""
    return [thumbnail(source.stored(number).picture()) for number in range(len(source))]


def thumbnail(stored: StoredPicture, *, side: int = SIDE) -> Image.Image:
    """Decode one picture as a small one."""
    scale = min(1.0, side / min(stored.height, stored.width))
    picture = _picture(stored.decode(scale))
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    return picture


def data_uri(picture: Image.Image, *, quality: int = QUALITY) -> str:
    """Write a picture as WebP inside a URI."""
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=quality, method=4)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def sheet(pictures: list[Image.Image]) -> Sheet:
    """Put square thumbnails on one sheet, row by row."""
    side = SMALL if max(max(p.size) for p in pictures) <= SMALL else 56
    columns = min(COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    whole = Image.new("RGB", (columns * side, rows * side), (128, 128, 128))
    for place, picture in enumerate(pictures):
        square = ImageOps.fit(picture, (side, side), Image.Resampling.LANCZOS)
        whole.paste(square, (place % columns * side, place // columns * side))
    return Sheet(data_uri(whole, quality=SHEET_QUALITY), side, columns, rows)


def _picture(image: UInt8[Tensor, "channel height width"]) -> Image.Image:
    """Show three channels as colour; of one or two, the first as grey."""
    shown = image[:3] if len(image) >= 3 else image[:1].expand(3, -1, -1)
    return Image.fromarray(np.ascontiguousarray(shown.permute(1, 2, 0).numpy()))
