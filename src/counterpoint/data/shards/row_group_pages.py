"""What the pages of a Parquet column say of themselves, read before any is decompressed.

A footer may say anything; each page has a header of its own, in Thrift's compact form, whose sizes
bound what the decoder makes of it: it never writes more than `uncompressed_page_size`.
"""

from dataclasses import dataclass
from typing import Any

MOST_FIELDS = 64  # of a structure; page headers have eight
DEPTH = 4  # of structures in each other: a page, its kind, its statistics

DATA, DICTIONARY, DATA_V2 = 0, 2, 3
KINDS = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}
"""The page types that are read, and the field that has their header; an index page is not."""
ENCODING = {DATA: 2, DICTIONARY: 2, DATA_V2: 4}

BOUNDED = frozenset({0, 2, 3, 5, 6, 8})
"""Encodings whose values take no more than their page, or an entry of a dictionary: PLAIN,
PLAIN_DICTIONARY, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY. Not
DELTA_BYTE_ARRAY: a value repeats the one before, so that a kilobyte becomes gigabytes."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What a column of a row group becomes."""

    uncompressed: int
    """Bytes of all pages."""
    values: int
    has_dictionary: bool


def read_pages(data: bytes) -> Pages:
    """Go through the pages of a column; a `ValueError` where they are damaged or not bounded."""
    place = uncompressed = values = 0
    has_dictionary = False
    while place < len(data):
        header, place = _struct(data, place, DEPTH)
        kind, whole, stored = (_whole_number(header.get(field)) for field in (1, 2, 3))
        if kind not in KINDS:
            raise ValueError("there is no page header where one should be")
        if whole < 0 or stored < 0 or stored > len(data) - place:
            raise ValueError(f"a page has {stored:,} bytes, and {len(data) - place:,} are there")
        about = header.get(KINDS[kind])
        fields = about if isinstance(about, dict) else {}
        count, encoding = (_whole_number(fields.get(field)) for field in (1, ENCODING[kind]))
        if count < 0:
            raise ValueError("a page does not say how many values it has")
        if encoding not in BOUNDED:
            raise ValueError(
                f"a page has the encoding {encoding}, whose size cannot be known; write the file "
                "again with another"
            )
        has_dictionary |= kind == DICTIONARY
        values += 0 if kind == DICTIONARY else count
        uncompressed += whole
        place += stored
    return Pages(uncompressed, values, has_dictionary)


def _whole_number(value: Any) -> int:
    """Return a field of a header that has to be a number: -1 where it is none."""
    return value if isinstance(value, int) else -1


def _struct(data: bytes, place: int, depth: int) -> tuple[dict[int, Any], int]:
    """Read a structure of Thrift: its numbers and structures by field, other fields passed over."""
    if depth == 0:
        raise ValueError("a page header is nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    for _ in range(MOST_FIELDS):
        head, place = _byte(data, place)
        if head == 0:
            return fields, place
        if head >> 4:
            number += head >> 4
        else:
            number, place = _zigzag(data, place)
        fields[number], place = _value(data, place, head & 15, depth)
    raise ValueError("a page header has too many fields")


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    """Read a value; of what no page header needs, only its length."""
    if kind in (1, 2):  # true and false are the type itself
        return kind == 1, place
    if kind == 3:
        return _byte(data, place)
    if kind in (4, 5, 6):
        return _zigzag(data, place)
    if kind == 7:
        return None, _inside(data, place + 8)
    if kind == 8:
        length, place = _varint(data, place)
        return None, _inside(data, place + length)
    if kind == 12:
        return _struct(data, place, depth - 1)
    raise ValueError(f"a page header has a field of type {kind}")


def _inside(data: bytes, place: int) -> int:
    if place > len(data):
        raise ValueError("a page header is cut short")
    return place


def _byte(data: bytes, place: int) -> tuple[int, int]:
    return data[_inside(data, place + 1) - 1], place + 1


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte.

    >>> _varint(bytes([0xAC, 0x02]), 0)
    (300, 2)
    """
    value = 0
    for shift in range(0, 70, 7):
        byte, place = _byte(data, place)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("a number in a page header has no end")


def _zigzag(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return (value >> 1) ^ -(value & 1), place
