"""The members of a tar, found by its headers alone: USTAR, GNU long names, PAX paths and sizes.

Nothing of a header is believed before it is checked: its checksum, and that what it speaks of
lies inside the file. Nothing is ever extracted, so that no name becomes a path.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

BLOCK = 512  # bytes of a header; members begin on multiples of it
LONG_NAME = 1 << 16  # bytes; Linux opens no path above 4,096
MOST_PAX = 1 << 20  # bytes of a PAX header

FILE = (b"0", b"\0", b"7")
NOTHING_BEHIND = (b"1", b"2", b"3", b"4", b"5", b"6")
"""Links, devices, folders and pipes: a header and no content."""
LONG, LONG_LINK, PAX, GLOBAL_PAX, SPARSE = b"L", b"K", b"x", b"g", b"S"
ABOUT = (LONG, LONG_LINK, PAX, GLOBAL_PAX)

ReadRange = Callable[[int, int], bytes]
"""Read from a byte on so many bytes."""


class Member(NamedTuple):
    """A plain file in a tar."""

    name: bytes
    start: int
    size: int


class _Said(NamedTuple):
    """What comes before a header and is about it."""

    name: bytes | None = None
    size: int | None = None
    sparse: bool = False


def tar_members(read: ReadRange, length: int) -> Iterator[Member]:
    """Walk through a tar of so many bytes; a `ValueError` says at which byte it is damaged.

    Links, devices, folders and sparse files are passed over.
    """
    said, place = _Said(), 0
    while place + BLOCK <= length:
        header = read(place, BLOCK)
        if not any(header):
            return  # two empty blocks are the end
        kind, size = _checked(header, place)
        if said.size is not None and kind not in ABOUT:
            size = said.size
        start, size = _content(read, header, place, size, length)
        place = start + -(-size // BLOCK) * BLOCK
        if kind in ABOUT:
            said = _about(read, kind, start, size, said)
            continue
        name = _name(header) if said.name is None else said.name
        if kind in FILE and not said.sparse and not name.endswith(b"/"):
            yield Member(name, start, size)
        said = _Said()
    if place < length and any(read(place, length - place)):
        raise ValueError(f"{length - place} bytes at byte {place:,} are less than a header")


def _content(read: ReadRange, header: bytes, place: int, size: int, length: int) -> tuple[int, int]:
    """Return where the content of a member begins and how long it is, if the tar has that much."""
    start = place + BLOCK
    kind = header[156:157]
    if kind == SPARSE:
        start = _behind_sparse_map(read, header, start, length)
    size = 0 if kind in NOTHING_BEHIND else size
    if size > length - start:
        raise ValueError(
            f"the member at byte {place:,} has {size:,} bytes, and {length - start:,} are there"
        )
    return start, size


def _about(read: ReadRange, kind: bytes, start: int, size: int, said: _Said) -> _Said:
    """Read what is said of the member that follows."""
    if kind == LONG:
        return said._replace(name=_bounded(read, start, size, LONG_NAME).rstrip(b"\0"))
    return _pax(_bounded(read, start, size, MOST_PAX), said) if kind == PAX else said


def _checked(header: bytes, place: int) -> tuple[bytes, int]:
    """Return kind and size of a member, if the sum of its header is what it says."""
    there = _number(header[148:156], place)
    rest = header[:148] + b" " * 8 + header[156:]
    if there != sum(rest) and there != sum(byte - 256 * (byte > 127) for byte in rest):
        raise ValueError(f"there is no tar header at byte {place:,}")
    return header[156:157], _number(header[124:136], place)


def _number(field: bytes, place: int) -> int:
    r"""Read a number: octal digits, or the GNU form for those that do not fit.

    >>> _number(b"0000644\0", 0), _number(b"\x80" + (5).to_bytes(11, "big"), 0)
    (420, 5)
    """
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip()
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        if digits:
            raise ValueError(f"a number of the header at byte {place:,} is not one")
        return 0
    return int(digits, 8)


def _name(header: bytes) -> bytes:
    name = header[:100].partition(b"\0")[0]
    posix = header[257:263] == b"ustar\0"  # GNU keeps times where POSIX has the folder
    folder = header[345:500].partition(b"\0")[0] if posix else b""
    return folder + b"/" + name if folder else name


def _bounded(read: ReadRange, start: int, size: int, most: int) -> bytes:
    if size > most:
        raise ValueError(f"the header at byte {start:,} has {size:,} bytes, needs {most:,} at most")
    return read(start, size)


def _behind_sparse_map(read: ReadRange, header: bytes, start: int, length: int) -> int:
    """Pass over the blocks in which the map of a sparse file goes on."""
    more = header[482]
    while more and start + BLOCK <= length:
        more = read(start, BLOCK)[504]
        start += BLOCK
    return min(start, length)


def _pax(data: bytes, said: _Said) -> _Said:
    r"""Read the records of a PAX header, `LENGTH key=value` and a line end each.

    >>> _pax(b"16 path=a/b.jpg\n", _Said()).name
    b'a/b.jpg'
    """
    place = 0
    while place < len(data) and data[place]:
        space = data.find(b" ", place, place + 20)
        digits = data[place:space]
        end = place + int(digits) if space > 0 and digits.isdigit() else 0
        if not space < end <= len(data) or data[end - 1 : end] != b"\n":
            raise ValueError("a PAX header is damaged")
        key, _, value = data[space + 1 : end - 1].partition(b"=")
        if key == b"path":
            said = said._replace(name=value)
        elif key == b"size":
            if not value.isdigit() or len(value) > 20:
                raise ValueError("the size in a PAX header is not a number")
            said = said._replace(size=int(value))
        elif key.startswith(b"GNU.sparse"):
            said = said._replace(sparse=True)
        place = end
    return said
