"""The objects below an address: listed, read, written and deleted, with the patience of stores."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.data.stores.file_names import checked_name
from counterpoint.data.stores.file_systems import file_system, in_time
from counterpoint.data.stores.retry import Patience, ask, environment_patience
from counterpoint.whole_file import whole_file

Found = TypeVar("Found")
PIECE = 8 << 20  # bytes of one request of a download
LISTING = 120.0  # seconds for the few dozen objects of a run
TOKENS = ("ETag", "etag", "md5Hash", "mtime", "created", "LastModified", "last_modified")
"""What kinds of stores call the word that changes with an object."""
TIMES = ("LastModified", "last_modified", "updated", "created", "mtime")
"""What they call the time at which it was written."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """An object as it is listed."""

    size: int
    version: str


@dataclass
class Trouble:
    """Whether the last request was not answered yet, and had to be made again."""

    now: bool = False


@dataclass(frozen=True, eq=False)
class ObjectPlace:
    """What is below an address; names are relative, with `/` between folders.

    >>> place = ObjectPlace("memory://doctest-place/run")
    >>> place.write("checkpoints/a", b"123")
    >>> {name: stamp.size for name, stamp in place.listing().items()}
    {'checkpoints/a': 3}
    """

    address: str
    patience: Patience = field(default_factory=environment_patience)
    trouble: Trouble = field(default_factory=Trouble, repr=False)

    def listing(self) -> dict[str, Stamp]:
        """List all objects below the address; names that leave it are left out."""

        def found() -> dict[str, Any]:
            try:
                return dict(self._call("find", LISTING, self._path(""), detail=True))
            except FileNotFoundError:
                return {}

        below = self._path("").strip("/") + "/"
        every = ((key.strip("/"), info) for key, info in self._do("list", "", found).items())
        listed = {key.removeprefix(below): info for key, info in every if key.startswith(below)}
        return {name: _stamp(info) for name, info in listed.items() if _stays(name)}

    def read(self, name: str) -> bytes:
        """Read a small object; a FileNotFoundError where it is not there."""

        def found() -> bytes:
            return self._piece(name, 0, int(self._info(name)["size"]))

        return self._do("read", name, found)

    def write(self, name: str, content: bytes) -> None:
        """Write a small object; it is whole or not there."""
        limit = self.patience.limit(len(content))
        self._do("write", name, lambda: self._call("pipe_file", limit, self._path(name), content))

    def upload(self, file: Path, name: str) -> None:
        """Write a file of this machine; it is whole there or not there."""
        size = file.stat().st_size

        def put() -> None:
            self._call("put_file", self.patience.limit(size), str(file), self._path(name))
            if (there := int(self._info(name)["size"])) != size:
                raise OSError(f"{there} bytes arrived of {size}")

        self._do("write", name, put)

    def download(self, name: str, size: int, file: Path) -> None:
        """Read an object of `size` bytes into a file, piece by piece; it is whole or not there."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as unfinished, unfinished.open("wb") as out:
            for start in range(0, size, PIECE):
                piece = partial(self._piece, name, start, min(start + PIECE, size))
                out.write(self._do("read", name, piece))

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""

        def gone() -> None:
            try:
                self._call("rm_file", self.patience.request, self._path(name))
            except FileNotFoundError:
                return

        self._do("delete", name, gone)

    def written_at(self, name: str) -> float:
        """Return when an object was written, by the clock of the store, in seconds."""
        info = self._do("look at", name, lambda: self._info(name))
        found = next((info[key] for key in TIMES if info.get(key)), 0.0)
        return float(found if isinstance(found, int | float) else found.timestamp())

    def _info(self, name: str) -> dict[str, Any]:
        return dict(self._call("info", self.patience.request, self._path(name)))

    def _piece(self, name: str, start: int, stop: int) -> bytes:
        if stop == start:
            return b""
        limit = self.patience.limit(stop - start)
        found = bytes(self._call("cat_file", limit, self._path(name), start=start, end=stop))
        if len(found) != stop - start:
            raise OSError(f"got {len(found)} bytes of {stop - start}")
        return found

    def _path(self, name: str) -> str:
        system = file_system(self.address, self.patience)
        return str(system._strip_protocol(f"{self.address}/{name}")).rstrip("/")

    def _call(self, what: str, seconds: float, *words: Any, **options: Any) -> Any:
        system = file_system(self.address, self.patience)
        return in_time(system, what, seconds, *words, **options)

    def _do(self, what: str, name: str, do: Callable[[], Found]) -> Found:
        def sleep(seconds: float) -> None:
            self.trouble.now = True
            time.sleep(seconds)

        found = ask(f"{what} {self.address}/{name}", do, self.patience, sleep=sleep)
        self.trouble.now = False
        return found


def say_of_store(words: str) -> None:
    """Say one line about the store of a run."""
    sys.stderr.write(f"store   {words}\n")
    sys.stderr.flush()


def _stamp(info: dict[str, Any]) -> Stamp:
    token = next((str(info[key]) for key in TOKENS if info.get(key)), "")
    return Stamp(int(info["size"]), f"{info['size']} {token}")


def _stays(name: str) -> bool:
    """Whether a name that a store lists stays below its address."""
    try:
        return bool(checked_name(name))
    except ValueError:
        return False
