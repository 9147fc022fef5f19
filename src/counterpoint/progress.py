"""Progress of anything that takes more than two seconds."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from counterpoint.pulse import beat

Item = TypeVar("Item")

QUIET = 2.0  # seconds before anything is said
EVERY = 10.0  # seconds between lines in a file


@runtime_checkable
class TextStream(Protocol):
    """What progress is written to."""

    def isatty(self) -> bool: ...

    def write(self, text: str, /) -> object: ...

    def flush(self) -> None: ...


def tracked(
    items: Sequence[Item], what: str, *, stream: TextStream | None = None
) -> Iterator[Item]:
    """Go through items and say how far it is and how long it will take.

    On a terminal one line that is written over, in a file a line now and then, and nothing at
    all when it is quick.

    >>> list(tracked([1, 2], "counting"))
    [1, 2]
    """
    stream = stream or sys.stderr
    lively = stream.isatty()
    started = said = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        beat()
        now = time.monotonic()
        if now - started > QUIET and now - said > (0.2 if lively else EVERY):
            said = now
            left = clock((now - started) / done * (len(items) - done))
            line = f"{what} {done / len(items):.0%}  left {left}"
            stream.write(f"\r{line}\033[K" if lively else f"{line}\n")
            stream.flush()
    if lively and said > started:
        stream.write("\r\033[K")


def clock(seconds: float) -> str:
    """Write a time as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
