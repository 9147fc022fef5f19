"""Where ranks leave word for each other: a store in rank 0 that hears nobody else.

It listens on the loopback when all ranks are on one machine, else on the address that the ranks
were started with. Every word has a seal that only the ranks can make: the key is drawn by rank 0
and sent through the process group.
"""

import hashlib
import hmac
import os
import secrets
import socket
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed import DistError, TCPStore  # type: ignore[attr-defined]  # not in __all__

from counterpoint.training.watchdog.peers import Peers

BYTES = 16  # of a key, and of a seal
LOOPBACK = "127.0.0.1"
WORDLESS = b""  # what stands under a name before the first word
BROKEN = (DistError, RuntimeError)
"""What a store raises that cannot be reached any more."""


@dataclass(frozen=True, slots=True)
class Seal:
    """Words with a mark that strangers cannot make.

    >>> seal = Seal(b"a key")
    >>> seal.opened("beat/1", seal.closed("beat/1", b"17"))
    b'17'
    >>> seal.opened("lost", seal.closed("beat/1", b"17")) is None
    True
    """

    key: bytes

    def closed(self, name: str, words: bytes) -> bytes:
        return self._mark(name, words) + words

    def opened(self, name: str, found: bytes) -> bytes | None:
        """Return the words, or None when a stranger has written them."""
        mark, words = found[:BYTES], found[BYTES:]
        return words if hmac.compare_digest(mark, self._mark(name, words)) else None

    def _mark(self, name: str, words: bytes) -> bytes:
        text = name.encode() + b"\0" + words
        return hashlib.blake2b(text, key=self.key, digest_size=BYTES).digest()


class StatusStore:
    """Words under names, each written by one rank and read by the others."""

    def __init__(self, store: TCPStore, seal: Seal) -> None:
        self.store, self.seal = store, seal

    def say(self, name: str, words: bytes) -> None:
        self.store.set(name, self.seal.closed(name, words))  # type: ignore[arg-type]  # bytes too

    def heard(self, names: list[str]) -> list[bytes | None]:
        """Read words; None for those of a stranger."""
        found = self.store.multi_get(names)
        return [self.seal.opened(*pair) for pair in zip(names, found, strict=True)]

    def heard_of(self, name: str) -> bytes | None:
        """Read a word that may not be there."""
        return self.heard([name])[0] if self.store.check([name]) else None


def open_status_store(neighbours: Peers, device: torch.device, *, timeout: float) -> StatusStore:
    """Open a store in rank 0 and tell the others its port and the key, through the group."""
    first = neighbours.rank == 0
    host = LOOPBACK if all(neighbours.here) else os.environ.get("MASTER_ADDR", LOOPBACK)
    key = secrets.token_bytes(BYTES)
    listening = _listening(host) if first else None
    port = listening.getsockname()[1] if listening else 0
    told = torch.tensor([port, *key], device=device)
    dist.broadcast(told, src=0)
    port, *drawn = told.tolist()
    limit = timedelta(seconds=timeout)
    if listening is not None:
        descriptor = listening.detach()
        store = TCPStore(
            host, port, None, is_master=True, timeout=limit, master_listen_fd=descriptor
        )
    else:
        store = TCPStore(host, port, None, is_master=False, timeout=limit)
    return StatusStore(store, Seal(bytes(drawn)))


def _listening(host: str) -> socket.socket:
    """Listen on one address; on all where that is not one of this machine (a service's name)."""
    family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.bind((address[0], 0))
    except OSError:
        made.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", 0))  # noqa: S104
    made.listen(socket.SOMAXCONN)
    return made
