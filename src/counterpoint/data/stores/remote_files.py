"""Files of an object store, by any address that fsspec knows."""

import errno
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from counterpoint.data.stores.byte_ranges import merged_ranges, part_ranges
from counterpoint.data.stores.fetcher import Wish
from counterpoint.data.stores.file_names import checked_name
from counterpoint.data.stores.file_systems import file_system, in_time
from counterpoint.data.stores.local_copies import LocalCopies
from counterpoint.data.stores.local_files import Descriptor
from counterpoint.data.stores.retry import EndsEarlyError, Patience, ask, environment_patience
from counterpoint.pulse import beat

LISTING = 600.0  # seconds: a listing of a million files is a thousand requests


@dataclass(frozen=True, eq=False)
class RemoteFiles:
    """The files below an address.

    Nothing of a connection is kept in it, so it can be forked, pickled and used by threads.

    >>> import fsspec
    >>> fsspec.filesystem("memory").pipe_file("/set/a.tar", b"0123456789")
    >>> files = RemoteFiles("memory://set")
    >>> files.names(), files.size("a.tar"), files.read("a.tar", 2, 3)
    (['a.tar'], 10, b'234')
    """

    address: str
    """Without a slash at its end."""
    patience: Patience = field(default_factory=environment_patience)
    edition: str = ""
    """What all files are known by, such as the hash of a manifest; without it each is looked at."""
    copies: LocalCopies = field(default_factory=LocalCopies, repr=False)

    def __reduce__(self) -> tuple[type, tuple[str, Patience, str]]:
        return type(self), (self.address, self.patience, self.edition)

    @property
    def place(self) -> str:
        return self.address

    def names(self) -> list[str]:
        system = self._system()
        root = system._strip_protocol(self.address).rstrip("/")
        found = ask(
            f"list {self.address}",
            lambda: in_time(system, "find", LISTING, root),
            self.patience,
        )
        return sorted(path[len(root) :].lstrip("/") for path in found)

    def size(self, name: str) -> int:
        return int(self._info(name)["size"])

    def version(self, name: str) -> str:
        known = self._info(name)
        keys = ("ETag", "etag", "md5Hash", "mtime", "created", "LastModified", "last_modified")
        mark = next((str(known[key]) for key in keys if known.get(key)), "")
        return f"{known['size']}-{mark}"

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Read from the copy on this machine, wait for it if it is on its way, or ask the store."""
        copy = self._copy(name)
        if copy is not None:
            return copy.read(start, length)
        if length is None:
            length = max(self.size(name) - start, 0)
        parts = [self.request(name, *part) for part in part_ranges(start, length)]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        copy = self._copy(name)
        if copy is not None:
            return [copy.read(start, length) for start, length in ranges]
        chunks = {place: self.read(name, *place) for place in merged_ranges(ranges)}
        return [_within(chunks, start, length) for start, length in ranges]

    def expect(self, names: Sequence[str]) -> None:
        """Bring whole files into the cache of this machine, in threads, in this order."""
        wishes = (
            Wish(
                claim=self._claim(name),
                key=partial(self._key, name),
                size=partial(self.size, name),
                request=partial(self.request, name),
                title=f"{self.address}/{name}",
            )
            for name in map(checked_name, names)
        )
        self.copies.expect(wishes)

    def _copy(self, name: str) -> Descriptor | None:
        claim = self._claim(checked_name(name))
        return self.copies.opened(claim, partial(self._key, name), self.patience.in_all)

    def _claim(self, name: str) -> str:
        return hashlib.sha256(f"{self.address}\n{name}".encode()).hexdigest()[:32]

    def _key(self, name: str) -> str:
        """Name the copy of a file: another edition, or another version, is another copy."""
        known = self.edition or self.version(name)
        return hashlib.sha256(f"{self.address}\n{name}\n{known}".encode()).hexdigest()[:32]

    def request(self, name: str, start: int, length: int) -> bytes:
        """Read one range by one request, past every cache."""
        found = ask(
            f"read {self.address}/{checked_name(name)}",
            partial(self._range, name, start, length),
            self.patience,
        )
        beat()
        return found

    def _range(self, name: str, start: int, length: int) -> bytes:
        limit = self.patience.limit(length)
        try:
            found = in_time(
                *(self._system(), "cat_file", limit, self._path(name)),
                start=start,
                end=start + length,
            )
        except OSError as error:
            if error.errno == errno.EINVAL:  # so s3fs says that a range begins behind the end
                self._check_end(name, start + length)
            raise
        if len(found) != length:
            self._check_end(name, start + length)
            raise OSError(f"got {len(found)} bytes of {length}")
        return bytes(found)

    def _check_end(self, name: str, end: int) -> None:
        """Tell an answer that was cut short from a file that is."""
        size = int(self._info(name)["size"])
        if size < end:
            raise EndsEarlyError(f"{self.address}/{name} ends {end - size} bytes too early")

    def _info(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = ask(
            f"look at {self.address}/{checked_name(name)}",
            lambda: in_time(self._system(), "info", self.patience.request, self._path(name)),
            self.patience,
        )
        if found.get("type") != "file":
            raise FileNotFoundError(f"{self.address}/{name} is not a file")
        return found

    def _system(self) -> Any:
        return file_system(self.address, self.patience)

    def _path(self, name: str) -> str:
        path: str = self._system()._strip_protocol(f"{self.address}/{name}")
        return path


def _within(chunks: dict[tuple[int, int], bytes], start: int, length: int) -> bytes:
    for (first, so_long), chunk in chunks.items():
        if first <= start and start + length <= first + so_long:
            return chunk[start - first : start - first + length]
    raise AssertionError(f"no request holds {length} bytes from {start}")
