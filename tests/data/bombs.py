"""Image files that are small and ask for much: memory, or time. What is in them is right."""

import io
import os
import struct
import zlib

import numpy as np
from PIL import Image

BLOCK = 1 << 20


def zeros(count):
    """A zlib stream of zeros, written from one compressed block over and over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = zlib.compressobj(9, zlib.DEFLATED, -15)
    end = rest.compress(bytes(count % BLOCK)) + rest.flush()
    check = (count % 65521) << 16 | 1  # Adler-32 of zeros
    return b"\x78\xda" + block * (count // BLOCK) + end + struct.pack(">I", check)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, *, depth=8, colour=2, more=b"", pixels=None):
    """A black PNG of any size, with more chunks before its pixels."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = 1 + -(-width * samples * depth // 8)
    if pixels is None:
        pixels = chunk(b"IDAT", zeros(row * height))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    palette = chunk(b"PLTE", bytes(768)) if colour == 3 else b""
    return b"\x89PNG\r\n\x1a\n" + header + palette + more + pixels + chunk(b"IEND", b"")


def encoded(image, form, **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def photo(form="JPEG", side=64, **options):
    rows = np.arange(side, dtype=np.uint8)
    image = Image.fromarray(np.stack([rows[:, None] + rows] * 3, axis=-1))
    return encoded(image, form, **options)


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg_with(more, **options):
    """A photo with more segments at its beginning."""
    whole = photo(**options)
    return whole[:2] + more + whole[2:]


def jpeg_that_says(width, height):
    """A photo whose header has another size."""
    whole = bytearray(photo())
    frame = whole.index(b"\xff\xc0")
    whole[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(whole)


def directory(count, length):
    """A TIFF directory of many tags that all have the same bytes for their value."""
    start = 8 + 2 + 12 * count + 4
    entries = b"".join(
        struct.pack("<HHII", (n + 300) % 65536, 7, length, start) for n in range(count)
    )
    head = b"II" + struct.pack("<HI", 42, 8) + struct.pack("<H", count)
    return head + entries + bytes(4) + bytes(length)


def tiff_with_tags(count, length):
    """A small TIFF whose directory has many large tags besides its own."""
    whole = bytearray(photo("TIFF"))
    (start,) = struct.unpack_from("<I", whole, 4)
    (own,) = struct.unpack_from("<H", whole, start)
    tags = bytes(whole[start + 2 : start + 2 + 12 * own])
    value = len(whole)
    whole += bytes(length)
    place = len(whole)
    more = b"".join(
        struct.pack("<HHII", (0xC000 + n) % 65536, 7, length, value) for n in range(count)
    )
    whole += struct.pack("<H", own + count) + tags + more + bytes(4)
    whole[4:8] = struct.pack("<I", place)
    return bytes(whole)


def gif_comment(length, block):
    """A GIF with a comment in blocks of a length."""
    whole = photo("GIF")
    at = 13 + (3 << ((whole[10] & 7) + 1) if whole[10] & 0x80 else 0)
    blocks = (bytes([block]) + b"x" * block) * (length // (block + 1))
    return whole[:at] + b"!\xfe" + blocks + b"\0" + whole[at:]


def bmp_run_lengths(count):
    """Runs of one pixel, which Pillow takes one by one, in Python."""
    rows = count // 1000
    head = struct.pack("<IiiHHIIiiII", 40, 1000, rows, 1, 8, 1, 0, 0, 0, 256, 0)
    content = (b"\x01\x07" * 1000 + b"\0\0") * rows + b"\0\x01"
    start = 14 + len(head) + 1024
    return (
        b"BM"
        + struct.pack("<IHHI", start + len(content), 0, 0, start)
        + head
        + bytes(1024)
        + content
    )


def scans(count):
    """A progressive JPEG whose last scan comes over and over."""
    whole = photo(progressive=True, side=512)
    last = whole.rindex(b"\xff\xda")
    return whole[:-2] + whole[last:-2] * count + whole[-2:]


def large(mode, megapixels, form, **options):
    side = int((megapixels * 1e6) ** 0.5)
    before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        return encoded(Image.new(mode, (side, side)), form, **options)
    finally:
        Image.MAX_IMAGE_PIXELS = before


def bombs():
    """Makers of files by name, and whether the file can be read all the same."""
    text = chunk(b"zTXt", b"a\0\0" + zeros(1_000_000))
    exif = b"Exif\0\0"
    return {
        # Pixels.
        "png-64-megapixels": (lambda: png(8000, 8000), True),
        "png-rgba-64-megapixels": (lambda: png(8000, 8000, colour=6), True),
        "png-67-megapixels": (lambda: png(8200, 8200), False),
        "png-rgba-177-megapixels": (lambda: png(13300, 13300, colour=6), False),
        "png-16-bits-rgba": (lambda: png(4500, 4500, colour=6, depth=16), True),
        "png-16-bits-rgba-too-large": (lambda: png(8000, 8000, colour=6, depth=16), False),
        "png-wide": (lambda: png(60_000_000, 1), False),
        "png-tall": (lambda: png(1, 30_000_000), False),
        "jpeg-too-large": (lambda: jpeg_that_says(20_000, 20_000), False),
        # Metadata.
        "jpeg-800-exif": (lambda: jpeg_with(segment(0xE1, exif + bytes(65_000)) * 800), True),
        "jpeg-exif-overlapping": (
            lambda: jpeg_with(segment(0xE1, exif + directory(2500, 30_000))),
            True,
        ),
        "jpeg-icc": (
            lambda: jpeg_with(segment(0xE2, b"ICC_PROFILE\0\1\1" + bytes(9000)) * 900),
            True,
        ),
        "jpeg-photoshop": (
            lambda: jpeg_with(segment(0xED, b"Photoshop 3.0\0" + b"8BIM" * 9000) * 300),
            True,
        ),
        "jpeg-comments": (lambda: jpeg_with(segment(0xFE, b"") * 1_000_000), False),
        "jpeg-fill": (lambda: jpeg_with(b"\xff" * (20 << 20)), False),
        "jpeg-junk": (lambda: jpeg_with(b"\x01" * (20 << 20)), False),
        "jpeg-scans": (lambda: scans(2000), False),
        "png-chunks": (lambda: png(9, 9, more=chunk(b"teXt", b"") * 1_000_000), False),
        "png-idats": (
            lambda: png(9, 9, pixels=b"".join(chunk(b"IDAT", bytes(1)) for _ in range(9)) * 50_000),
            False,
        ),
        "png-texts": (lambda: png(9, 9, more=text * 90), True),
        "png-exif-overlapping": (
            lambda: png(9, 9, more=chunk(b"eXIf", directory(65_000, 9_000_000))),
            True,
        ),
        "gif-comment": (lambda: gif_comment(30 << 20, 255), True),
        "gif-comment-of-single-bytes": (lambda: gif_comment(10 << 20, 1), False),
        "tiff-overlapping": (lambda: tiff_with_tags(3000, 1 << 20), False),
        "tiff-tags": (lambda: tiff_with_tags(60_000, 1), False),
        "bmp-run-lengths": (lambda: bmp_run_lengths(8_000_000), False),
    }


def heavy_bombs():
    """Those that take seconds to make."""
    return {
        "png-16-bits-grey": (lambda: png(7900, 7900, colour=0, depth=16), True),
        "png-palette-170-megapixels": (lambda: png(13000, 13000, colour=3), True),
        "png-one-bit": (lambda: png(13000, 13000, colour=0, depth=1), True),
        "webp-15-megapixels": (lambda: large("RGB", 15, "WEBP"), True),
        "webp-lossless-15-megapixels": (lambda: large("RGBA", 15, "WEBP", lossless=True), True),
        "webp-150-megapixels": (lambda: large("RGB", 150, "WEBP", method=0), False),
        "jpeg-progressive-50-megapixels": (
            lambda: large("RGB", 50, "JPEG", progressive=True),
            True,
        ),
        "jpeg-progressive-no-subsampling": (
            lambda: large("RGB", 80, "JPEG", progressive=True, subsampling=0),
            False,
        ),
        "jpeg-170-megapixels": (lambda: large("RGB", 170, "JPEG"), True),
        "tiff-one-strip": (
            lambda: large("RGBA", 25, "TIFF", compression="tiff_adobe_deflate", strip_size=1 << 31),
            True,
        ),
        "tiff-150-megapixels": (lambda: large("RGB", 150, "TIFF", compression="tiff_lzw"), False),
        "gif-100-megapixels": (lambda: large("P", 100, "GIF"), True),
        "bmp-20-megapixels": (lambda: large("RGB", 20, "BMP"), True),
    }


def write_bombs(made, place):
    """Write bombs as files; give whether each can be read, by name."""
    place.mkdir(parents=True)
    for name, (make, _) in made.items():
        (place / f"{name}.{name.split('-')[0]}").write_bytes(make())
    endless = place / "png-endless.png"  # a file of holes: 1 TB that take no space
    endless.touch()
    os.truncate(endless, 1 << 40)
    return {name: fine for name, (_, fine) in made.items()} | {"png-endless": False}
