"""GIF: blocks until the first frame."""

from counterpoint.data.formats.plain import MANY, Plain, RefusedError, without

CONTROL = 0xF9  # the extension that says which colour is transparent
EXTENSION, FRAME = 0x21, 0x2C


def gif(data: bytes) -> Plain:
    """Drop comments and other extensions before the first frame; later frames are not read."""
    if len(data) < 13:
        raise RefusedError("not a readable GIF image: its header is cut short", "not an image")
    flags = data[10]
    at = 13 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0)
    dropped: list[tuple[int, int]] = []
    for _ in range(MANY):
        if at + 2 >= len(data) or data[at] == FRAME:
            return Plain("GIF", without(data, dropped), per_pixel=1)
        start, kind = at, data[at + 1]
        if data[at] != EXTENSION:
            raise RefusedError("not a readable GIF image: no frame", "not an image")
        at = _after(data, at + 2)
        if kind != CONTROL:
            dropped.append((start, at))
    raise RefusedError(f"more than {MANY:,} extensions before its pixels", "too large")


def _after(data: bytes, at: int) -> int:
    """Go to the end of a row of blocks of up to 255 bytes."""
    for _ in range(1 << 18):
        if at >= len(data) or data[at] == 0:
            return min(at + 1, len(data))
        at += 1 + data[at]
    raise RefusedError("an extension of too many blocks", "too large")
