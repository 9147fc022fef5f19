"""Threads of a process that bring whole files of stores into the cache, before they are read."""

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from counterpoint.data.stores.byte_ranges import part_ranges
from counterpoint.data.stores.retry import StoreFailure
from counterpoint.data.stores.shard_cache import ShardCache
from counterpoint.pulse import beat

THREADS = 4
LONGEST_WAIT = 60.0  # seconds for room in the cache; then what is needed goes, the oldest first
POLL = 0.05  # seconds between two looks at what is on its way


@dataclass(frozen=True, slots=True)
class Wish:
    """A file that should come: how it is claimed, stored, measured and read."""

    claim: str
    key: Callable[[], str]
    """Asked in the thread: it may need a request."""
    size: Callable[[], int]
    request: Callable[[int, int], bytes]
    title: str = ""
    """How people know it."""


@dataclass(eq=False)
class Fetcher:
    """The threads of one process for one cache."""

    cache: ShardCache
    wishes: "queue.SimpleQueue[Wish]" = field(default_factory=queue.SimpleQueue)
    pending: set[str] = field(default_factory=set)
    turns: "Turns" = field(default_factory=lambda: Turns())
    ended: bool = False
    said: bool = False

    def __post_init__(self) -> None:
        self.cache.tidy()
        for number in range(THREADS):
            name = f"counterpoint-fetch-{number}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        atexit.register(self._end, os.getpid())

    def fetch(self, wish: Wish) -> None:
        """Fetch a file soon, unless somebody does; what was wished for first comes first."""
        if self.cache.claim(wish.claim):
            self.pending.add(wish.claim)
            self.wishes.put(wish)

    def _work(self) -> None:
        while not self.ended:
            with self.turns.lock:
                wish, turn = self.wishes.get(), self.turns.take()
            try:
                self._fetch(wish, turn)
            except (StoreFailure, FileNotFoundError):
                pass  # whoever reads it meets the same, and says so
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                self._say(f"{wish.title}: not kept on this machine ({error}); read in pieces")
            finally:
                self.turns.leave(turn)
                self.cache.release(wish.claim)
                self.pending.discard(wish.claim)

    def _fetch(self, wish: Wish, turn: int) -> None:
        key = wish.key()
        if self.cache.has(key):
            self.cache.used(key)
            return
        size = wish.size()
        self.turns.wait(turn)  # what is read first must not wait for room that later files took
        if not self._reserved(wish, key, size):
            return
        self.turns.leave(turn)
        with self.cache.part(key) as part:
            for start, length in part_ranges(0, size):
                os.pwrite(part, wish.request(start, length), start)
            if wish.key() != key:
                raise OSError("it changed while it was fetched")

    def _reserved(self, wish: Wish, key: str, size: int) -> bool:
        """Get room in the cache, and wait for it while all that is there is needed."""
        if size > self.cache.bound:
            self._say(
                f"{wish.title} has {size:,} bytes, and the cache {self.cache.bound:,}; "
                "it is read in pieces. COUNTERPOINT_SHARD_CACHE=200GB makes room"
            )
            return False
        ends = time.monotonic() + LONGEST_WAIT
        while not self.cache.reserve(key, size, force=time.monotonic() > ends):
            if self.ended:
                return False
            self._say(
                f"the shards that are open do not fit into {self.cache.bound:,} bytes of cache; "
                "COUNTERPOINT_SHARD_CACHE=200GB makes room"
            )
            time.sleep(10 * POLL)
        return True

    def _say(self, words: str) -> None:
        if not self.said:
            self.said = True
            sys.stderr.write(f"store   {words}\n")

    def _end(self, pid: int) -> None:
        self.ended = True
        if os.getpid() == pid:
            for name in list(self.pending):
                self.cache.release(name)


@dataclass(eq=False)
class Turns:
    """Numbers that are served in order; a number that was left is passed over.

    >>> turns = Turns()
    >>> first, second = turns.take(), turns.take()
    >>> turns.leave(second)
    >>> turns.wait(first)  # does not block: it is the first
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a number is taken together with something else."""
    taken: int = 0
    here: set[int] = field(default_factory=set)
    moved: threading.Condition = field(default_factory=threading.Condition)

    def take(self) -> int:
        with self.moved:
            self.taken += 1
            self.here.add(self.taken)
            return self.taken

    def wait(self, turn: int) -> None:
        with self.moved:
            self.moved.wait_for(lambda: min(self.here) == turn)

    def leave(self, turn: int) -> None:
        with self.moved:
            self.here.discard(turn)
            self.moved.notify_all()


_FETCHERS: dict[tuple[int, ShardCache], Fetcher] = {}
_MAKING: dict[int, threading.Lock] = {}


def fetcher_of(cache: ShardCache) -> Fetcher:
    """Return the threads of this process for a cache."""
    key = os.getpid(), cache
    with _MAKING.setdefault(os.getpid(), threading.Lock()):
        if key not in _FETCHERS:
            _FETCHERS[key] = Fetcher(cache)
        return _FETCHERS[key]


def wait_for(cache: ShardCache, name: str, patience: float) -> None:
    """Wait while a file is on its way, at most so many seconds: then it is read in pieces."""
    ends, step = time.monotonic() + patience, POLL / 10
    while cache.on_its_way(name) and time.monotonic() < ends:
        time.sleep(step)
        step = min(2 * step, POLL)
        beat()
