"""The size of pictures coded by HEVC, from the header that comes with them."""

import struct

SEQUENCE = 33  # the kind of a unit that holds a sequence parameter set
PROFILE = 88  # bits of a profile; a level has 8
LONGEST = 32  # zeros before a number: more is not one


class _Bits:
    """Bits of a header, one after the other; bytes 0 0 3 stand for 0 0."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data.replace(b"\x00\x00\x03", b"\x00\x00"), 0

    def take(self, count: int) -> int:
        value = 0
        for _ in range(count):
            byte = self.data[self.at >> 3]
            value = value << 1 | byte >> (7 - (self.at & 7)) & 1
            self.at += 1
        return value

    def number(self) -> int:
        """Read a number of Golomb's code: as many zeros as it has digits after the first."""
        zeros = 0
        while not self.take(1):
            zeros += 1
            if zeros > LONGEST:
                raise IndexError
        return (1 << zeros) - 1 + self.take(zeros)


def sequence_size(configuration: bytes) -> tuple[int, int] | None:
    """Return width and height from a decoder configuration, the largest; None where it has none."""
    try:
        sizes = [_size(unit) for kind, unit in _units(configuration) if kind == SEQUENCE]
    except (IndexError, struct.error):
        return None
    return max(sizes, key=lambda size: size[0] * size[1], default=None)


def _units(configuration: bytes) -> list[tuple[int, bytes]]:
    """List the parameter sets: 22 bytes, then arrays of units of one kind each."""
    found, at = [], 23
    for _ in range(configuration[22]):
        kind, count = configuration[at] & 63, struct.unpack_from(">H", configuration, at + 1)[0]
        at += 3
        for _ in range(count):
            (length,) = struct.unpack_from(">H", configuration, at)
            found.append((kind, configuration[at + 2 : at + 2 + length]))
            at += 2 + length
    return found


def _size(unit: bytes) -> tuple[int, int]:
    """Read width and height of a sequence parameter set (H.265, 7.3.2.2)."""
    bits = _Bits(unit[2:])
    bits.take(4)
    layers = bits.take(3)
    bits.take(1 + PROFILE + 8)
    there = [(bits.take(1), bits.take(1)) for _ in range(layers)]
    bits.take(2 * (8 - layers) if layers else 0)
    for profile, level in there:
        bits.take(PROFILE * profile + 8 * level)
    bits.number()  # its own number
    if bits.number() == 3:  # colours at full size
        bits.take(1)
    return bits.number(), bits.number()
