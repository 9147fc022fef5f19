"""JPEG: segments until the first scan."""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from counterpoint.data.formats.plain import MANY, Plain, RefusedError, orientation_of, without

FILL = re.compile(b"\xff+")
ALONE = {0x00, 0x01, *range(0xD0, 0xD9)}  # markers without a length, and what is not a marker
SCAN, END, COMMENT, NOTHING = 0xDA, 0xD9, 0xFE, -1
JFIF, EXIF, ADOBE = 0xE0, 0xE1, 0xEE
APPLICATION = range(0xE0, 0xF0)
NAMES = {JFIF: b"JFIF", EXIF: b"Exif\0\0", ADOBE: b"Adobe"}
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the three are tables
PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
ARITHMETIC = {*range(0xC9, 0xD0)}
JUNK = 1 << 16  # bytes between segments, which Pillow goes through one by one
SCANS = 64  # each is a pass over the picture; encoders write about 10
SLOW = 1 << 23  # pixels of arithmetic coding, which is several times slower


class Segment(NamedTuple):
    """A part of the header; its content begins after the length."""

    marker: int
    start: int
    content: int
    stop: int


def jpeg(data: bytes) -> Plain:
    """Drop what stands before the pixels and changes none of them.

    That is all of comments and applications but the two segments that say what the colours are.
    """
    dropped: list[tuple[int, int]] = []
    seen: dict[int, bytes] = {}
    frame = Segment(NOTHING, 0, 0, 0)
    for segment in _segments(data):
        marker, start, at, stop = segment
        if marker in FRAMES:
            frame = segment
        if marker in (SCAN, END):
            break
        name = NAMES.get(marker)
        first = name is not None and marker not in seen and data.startswith(name, at)
        if first:
            seen[marker] = data[at:stop]
        if marker in (COMMENT, NOTHING, EXIF) or (marker in APPLICATION and not first):
            dropped.append((start, stop))
    orientation = orientation_of(seen.get(EXIF, b""))
    return Plain("JPEG", without(data, dropped), orientation, _kept(data, frame, at))


def _segments(data: bytes) -> Iterator[Segment]:
    """Go through the header up to the first scan; its bounds are Pillow's time and ours."""
    at, junk = 2, 0
    for _ in range(MANY):
        start = data.find(b"\xff", at, at + JUNK)
        fill = FILL.match(data, start) if start >= 0 else None
        if fill is None or fill.end() + 3 > len(data):
            raise RefusedError("not a readable JPEG image: its header is cut short", "not an image")
        marker, start, end = data[fill.end()], fill.end() - 1, fill.end() + 1
        junk += start - at
        if junk > JUNK:
            raise RefusedError("more than 64 kB between its segments", "not an image")
        if start > at:
            yield Segment(NOTHING, at, at, start)
        if marker in ALONE:
            at = end
            continue
        at = end + struct.unpack_from(">H", data, end)[0]
        yield Segment(marker, start, end + 2, at)
        if marker in (SCAN, END):
            return
    raise RefusedError(f"more than {MANY:,} segments before its pixels", "too large")


def _kept(data: bytes, frame: Segment, scan: int) -> int:
    """Count the bytes of a picture whose coefficients are all kept until its last scan."""
    if frame.marker == NOTHING or frame.stop < frame.content + 6 or frame.stop > len(data):
        raise RefusedError("not a readable JPEG image: it has no frame", "not an image")
    height, width, count = struct.unpack_from(">HHB", data, frame.content + 1)
    sampled = data[frame.content + 7 : frame.stop : 3][:count]
    if frame.marker in ARITHMETIC and height * width > SLOW:
        raise RefusedError(
            f"{width} x {height} pixels is too large for arithmetic coding", "too large"
        )
    if frame.marker not in PROGRESSIVE and data[scan : scan + 1] >= bytes([count]):
        return 0
    scans = data.count(b"\xff\xda", scan) + 1
    if scans > SCANS:
        raise RefusedError(f"{scans} scans; needs at most {SCANS}", "too large")
    parts = [divmod(byte, 16) for byte in sampled]
    across, down = (max([1, *(part[side] for part in parts)]) for side in (0, 1))
    return sum(2 * height * width * h * v // (across * down) for h, v in parts)
