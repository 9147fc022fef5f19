"""Many names in little memory, and names that people can read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")  # a byte that is no text, as `shown` writes it


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Names as one long row of bytes: a million of them are two arrays and no objects.

    They are bytes, since names of files need not be text.

    >>> names = Names.of([b"cat.jpg", b"dog.jpg"])
    >>> len(names), names[1]
    (2, b'dog.jpg')
    """

    data: UInt8[Tensor, " byte"]
    ends: Int64[Tensor, " name"]
    """Where each name ends; the next begins there."""

    @classmethod
    def of(cls, names: Sequence[bytes]) -> "Names":
        data = torch.frombuffer(bytearray(b"".join(names)) or bytearray(1), dtype=torch.uint8)
        lengths = torch.tensor([len(name) for name in names], dtype=torch.int64)
        ends = lengths.cumsum(dim=0)
        return cls(data[: int(lengths.sum())], ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> bytes:
        ends = self.ends.numpy()
        start = ends[number - 1] if number else 0
        return self.data.numpy()[start : ends[number]].tobytes()

    def some(self, numbers: Int64[Tensor, " chosen"]) -> list[bytes]:
        """Return some names at once."""
        data = self.data.numpy().data
        ends = self.ends[numbers].tolist()
        starts = torch.where(numbers > 0, self.ends[numbers - 1], 0).tolist()
        return [bytes(data[start:end]) for start, end in zip(starts, ends, strict=True)]


def shown(name: bytes) -> str:
    r"""Write a name so that it can be printed, also where it is no text.

    >>> shown("über.jpg".encode()), shown(b"caf\xe9.jpg")
    ('über.jpg', 'caf\\xe9.jpg')
    """
    return name.decode("utf-8", "backslashreplace")


def named(text: str) -> bytes:
    r"""Return the name that is shown so.

    >>> named("über.jpg") == "über.jpg".encode(), named(r"caf\xe9.jpg"), named(r"a\x.jpg")
    (True, b'caf\xe9.jpg', b'a\\x.jpg')
    """
    return ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text.encode())
