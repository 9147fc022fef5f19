"""PNG: chunks to the end."""

import struct

from counterpoint.data.formats.plain import Plain, RefusedError, orientation_of, without

PIXELS = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}
MOST = 100_000  # chunks; encoders write 8 kB and more into each
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type


def png(data: bytes) -> Plain:
    """Drop all chunks but those that make the pixels; texts and profiles may be bombs."""
    dropped: list[tuple[int, int]] = []
    orientation, at = 1, 8
    for _ in range(MOST):
        if at + 8 > len(data):
            break
        length, kind = struct.unpack_from(">I4s", data, at)
        stop = at + 12 + length
        if kind == b"eXIf":
            orientation = orientation_of(memoryview(data)[at + 8 : stop - 4])
        if kind not in PIXELS:
            dropped.append((at, min(stop, len(data))))
        if kind == b"IEND":
            break
        at = stop
    else:
        raise RefusedError(f"more than {MOST:,} chunks", "too large")
    return Plain("PNG", without(data, dropped), orientation, per_pixel=_wide(data))


def _wide(data: bytes) -> int:
    """Count bytes of 16 bits a sample as held, though they pass by: they take the time."""
    if len(data) < 26 or data[24] < 16:
        return 0
    return 2 * SAMPLES.get(data[25], 4)
