"""The copies of a store's files on this machine, as one process reads them."""

import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from counterpoint.data.cache import cache_folder
from counterpoint.data.stores.fetcher import Wish, fetcher_of, wait_for
from counterpoint.data.stores.local_files import OPEN, Descriptor
from counterpoint.data.stores.shard_cache import ShardCache
from counterpoint.failures import errno_name

FRESH = 5.0  # seconds between two notes that a file is in use
KEYS = 4096  # files whose version is known: 100 bytes each


def machine_cache() -> ShardCache:
    """Return the cache of shards that all processes of this machine share."""
    return ShardCache(cache_folder() / "shards")


@dataclass(eq=False)
class _Copy:
    key: str
    descriptor: Descriptor
    noted: float


@dataclass(eq=False)
class LocalCopies:
    """Open copies, by claim; each step here is whole by itself, so no lock has to be forked."""

    cache: ShardCache = field(default_factory=machine_cache)
    copies: "OrderedDict[str, _Copy]" = field(default_factory=OrderedDict)
    keys: "OrderedDict[str, str]" = field(default_factory=OrderedDict)
    """Names of copies that were asked for: finding one out may take a request."""

    def opened(self, claim: str, key: Callable[[], str], patience: float) -> Descriptor | None:
        """Return the open copy of a file; wait for one that is on its way; None without one."""
        copy = self.copies.get(claim)
        if copy is None:
            copy = self._found(claim, key, patience)
            if copy is None:
                return None
            self.copies[claim] = copy
            _shorten(self.copies, OPEN)
        now = time.monotonic()
        if now - copy.noted > FRESH:
            copy.noted = now
            self.cache.used(copy.key)
        with suppress(KeyError):  # another thread let it go
            self.copies.move_to_end(claim)
        return copy.descriptor

    def expect(self, wishes: Iterable[Wish]) -> None:
        """Have files fetched; a cache that cannot be written is said, and is not an error."""
        try:
            if not self.cache.bound:
                return
            fetcher = fetcher_of(self.cache)
            for wish in wishes:
                if wish.claim not in self.copies:
                    fetcher.fetch(wish)
        except OSError as error:
            sys.stderr.write(f"store   no cache in {self.cache.folder}: {errno_name(error)}\n")

    def _found(self, claim: str, key: Callable[[], str], patience: float) -> _Copy | None:
        if self.cache.on_its_way(claim):
            wait_for(self.cache, claim, patience)
        elif not self.cache.folder.is_dir():
            return None
        known = self.keys.get(claim)
        if known is None:
            known = self.keys[claim] = key()
            _shorten(self.keys, KEYS)
        descriptor = self.cache.opened(known)
        return None if descriptor is None else _Copy(known, descriptor, time.monotonic())


def _shorten(table: "OrderedDict[str, Any]", most: int) -> None:
    """Let go of what was used least recently."""
    with suppress(KeyError):
        while len(table) > most:
            table.popitem(last=False)
