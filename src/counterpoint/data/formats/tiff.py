"""TIFF: its first directory."""

import struct

from counterpoint.data.formats.plain import MANY, Plain, RefusedError, orientation_of, tags

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
"""Bytes of a value, by its type."""
MOST = 1 << 23  # bytes of all values of the directory: profiles, and where the strips are
STRIPS = 1 << 17  # strips or tiles; Pillow makes an object of each
PLACES = (273, 324)  # where the strips, or tiles, begin
BITS, SAMPLES = 258, 277


def tiff(data: bytes) -> Plain:
    """Refuse a directory whose values are too many: Pillow reads them all, and tags may overlap."""
    order = "<" if data.startswith(b"II") else ">"
    values = samples = 0
    wide = 1
    try:
        for number, (tag, kind, count, value) in enumerate(tags(data, order)):
            values += SIZES.get(kind, 1) * count
            if values > MOST or number > MANY or (tag in PLACES and count > STRIPS):
                raise RefusedError(
                    f"more than {MOST >> 20} MB, {MANY:,} tags or {STRIPS:,} strips of metadata",
                    "too large",
                )
            if tag == SAMPLES and count == 1:
                (samples,) = struct.unpack_from(f"{order}H", data, value)
            if tag == BITS:
                at = value
                if 2 * count > 4:
                    (at,) = struct.unpack_from(f"{order}I", data, value)
                wide = max(struct.unpack_from(f"{order}{min(count, 16)}H", data, at), default=1)
    except struct.error as error:
        what = "not a readable TIFF image: its directory is cut short"
        raise RefusedError(what, "not an image") from error
    # libtiff decodes strip by strip, but one strip may be the whole picture.
    held = max(4, -(-max(samples, 1) * wide // 8))
    turned = 4 if orientation_of(data) > 1 else 0  # by Pillow itself, into a second image
    return Plain("TIFF", data, per_pixel=held + turned)
