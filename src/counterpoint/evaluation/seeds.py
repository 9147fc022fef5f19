"""One seed from several numbers."""

from hashlib import blake2b


def mixed(*numbers: int) -> int:
    """Return a seed that differs whenever any of the numbers does.

    A sum would not do: epoch 1 of seed 0 would be epoch 0 of seed 1.

    >>> mixed(0, 1) == mixed(1, 0)
    False
    """
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1
