"""What is read of an image file before Pillow sees it: bounds, orientation, and only the pixels."""

from counterpoint.data.formats.gif import gif
from counterpoint.data.formats.heif import INSTALL, heif, heif_is_there, is_heif
from counterpoint.data.formats.heif import SUFFIXES as HEIC_SUFFIXES
from counterpoint.data.formats.jpeg import jpeg
from counterpoint.data.formats.plain import BUDGET, Plain, RefusedError
from counterpoint.data.formats.png import png
from counterpoint.data.formats.tiff import tiff
from counterpoint.data.formats.webp import bmp, webp

MAGIC = (
    (b"\xff\xd8\xff", jpeg),
    (b"\x89PNG\r\n\x1a\n", png),
    (b"RIFF", webp),
    (b"GIF8", gif),
    (b"BM", bmp),
    (b"II\x2a\x00", tiff),
    (b"MM\x00\x2a", tiff),
)
"""How files begin, and who reads them."""

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
"""As Pillow calls them; nothing else is ever opened but HEIF, where its plugin is installed."""

PLAIN = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
SUFFIXES = (*PLAIN, *HEIC_SUFFIXES) if heif_is_there() else PLAIN


def only_pixels(data: bytes) -> Plain:
    """Find the format by the first bytes, whatever the file is called."""
    for magic, read in MAGIC:
        if data.startswith(magic):
            return read(data)
    if is_heif(data):
        return heif(data)
    raise RefusedError(f"not a readable {', '.join(FORMATS)} image", "not an image")


__all__ = [
    "BUDGET",
    "FORMATS",
    "HEIC_SUFFIXES",
    "INSTALL",
    "SUFFIXES",
    "Plain",
    "RefusedError",
    "only_pixels",
]
