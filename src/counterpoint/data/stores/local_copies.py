"""The copies of a store's files on this machine, as one process reads them."""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from counterpoint.data.cache import cache_folder
from counterpoint.data.stores.fetcher import Wish, fetcher_of, wait_for
from counterpoint.data.stores.local_files import OPEN, Descriptor, keep_last
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
    copies: dict[str, _Copy] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """Names of copies that were asked for: finding one out may take a request."""

    def opened(self, claim: str, key: Callable[[], str], patience: float) -> Descriptor | None:
        """Return the open copy of a file; wait for one that is on its way; None without one."""
        copy = self.copies.get(claim)
        if copy is None:
            copy = self._found(claim, key, patience)
            if copy is None:
                return None
        now = time.monotonic()
        if now - copy.noted > FRESH:
            copy.noted = now
            self.cache.used(copy.key)
        keep_last(self.copies, claim, copy, OPEN)
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
            known = key()
            keep_last(self.keys, claim, known, KEYS)
        descriptor = self.cache.opened(known)
        return None if descriptor is None else _Copy(known, descriptor, time.monotonic())
