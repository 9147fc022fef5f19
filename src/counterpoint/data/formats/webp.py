"""WebP: its chunks, for the orientation; and BMP, of which all is taken."""

import struct

from counterpoint.data.formats.plain import BUDGET, MANY, Plain, RefusedError, orientation_of

CANVASES = 12  # bytes a pixel, measured: libwebp's two canvases, and what Pillow copies from them
RUN_LENGTHS = 1 << 20  # bytes; Pillow decodes those of BMP in Python


def webp(data: bytes) -> Plain:
    """Read the orientation; libwebp skips the rest of the metadata by itself."""
    width, height = _canvas(data)
    if width * height * CANVASES > BUDGET:  # allocated when the file is opened
        raise RefusedError(f"{width} x {height} pixels is too large for WebP", "too large")
    at, orientation = 12, 1
    for _ in range(MANY):
        if at + 8 > len(data):
            break
        kind, length = struct.unpack_from("<4sI", data, at)
        if kind == b"EXIF":
            orientation = orientation_of(memoryview(data)[at + 8 : at + 8 + length])
            break
        at += 8 + length + length % 2
    return Plain("WEBP", data, orientation, len(data), CANVASES)  # Pillow copies the file


def _canvas(data: bytes) -> tuple[int, int]:
    """Read width and height: of an extended file, of a lossless or of a lossy one."""
    kind, head = data[12:16], data[20:30]
    if data[8:12] != b"WEBP" or len(head) < 10:
        raise RefusedError(
            "not a readable WEBP image: another file, or its header is cut short", "not an image"
        )
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[4:7], "little"), 1 + int.from_bytes(head[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", head, 6)
    return width & 0x3FFF, height & 0x3FFF


def bmp(data: bytes) -> Plain:
    """Refuse run lengths but in small files."""
    (compression,) = struct.unpack_from("<I", data, 30) if len(data) >= 34 else (0,)
    if compression in (1, 2) and len(data) > RUN_LENGTHS:
        raise RefusedError("run lengths in BMP are too slow to decode", "too large")
    return Plain("BMP", data)
