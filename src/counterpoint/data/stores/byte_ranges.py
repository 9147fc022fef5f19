"""Ranges of a file: what lies close together is one request."""

from collections.abc import Sequence

GAP = 64 << 10  # bytes that are read for nothing rather than asked around: a request costs more
PART = 8 << 20  # the longest request: what fails is asked again, so it should not be long

Range = tuple[int, int]


def merged_ranges(ranges: Sequence[Range], *, gap: int = GAP, most: int = PART) -> list[Range]:
    """Return the (start, length) to ask for, in order, that hold all of some ranges.

    A gap of at most `gap` bytes is read too; no request is longer than `most`, unless one range is.

    >>> merged_ranges([(900, 10), (0, 100), (110, 50)], gap=16)
    [(0, 160), (900, 10)]
    """
    found: list[Range] = []
    for start, length in sorted(ranges):
        if found:
            first, so_far = found[-1]
            end = max(first + so_far, start + length)
            if start - (first + so_far) <= gap and end - first <= max(most, so_far):
                found[-1] = (first, end - first)
                continue
        found.append((start, length))
    return found


def part_ranges(start: int, length: int, *, most: int = PART) -> list[Range]:
    """Cut a range into requests that are not too long.

    >>> part_ranges(5, 20, most=8)
    [(5, 8), (13, 8), (21, 4)]
    """
    end = start + length
    return [(place, min(most, end - place)) for place in range(start, end, most)]
