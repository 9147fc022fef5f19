"""What was asked of a store again: counted in every process, said on stderr now and then."""

import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

QUIET = 10.0  # seconds between two lines of a process
LONG = 5.0  # seconds that a request failed before its end is worth a line


@dataclass(eq=False)
class RetryLog:
    """The failures of this process."""

    counts: "Counter[str]" = field(default_factory=Counter)
    """How often each kind of failure was met, and `retries` in all."""
    silent: int = 0
    """Failures since the last line."""
    said: float = -QUIET
    lock: threading.Lock = field(default_factory=threading.Lock)

    def failed(self, what: str, why: str, wait: float) -> None:
        """Count a failure; say it if none was said just now."""
        with self.lock:
            self.counts["retries"] += 1
            self.counts[why.partition(":")[0]] += 1
            now = time.monotonic()
            if now - self.said < QUIET:
                self.silent += 1
                return
            more = f"; {self.silent} more since the last line" if self.silent else ""
            self.said, self.silent = now, 0
            total = self.counts["retries"]
        _say(f"{what}: {why}; again in {wait:.1f} s (retry {total:,} of this process{more})")

    def mended(self, what: str, failures: int, seconds: float) -> None:
        """Say that a request succeeded at last, if it took long."""
        if seconds > LONG:
            with self.lock:
                total, self.silent, self.said = self.counts["retries"], 0, time.monotonic()
            _say(
                f"{what}: answered after {failures} failures in {seconds:.0f} s "
                f"({total:,} retries of this process)"
            )


_LOGS: dict[int, RetryLog] = {}


def retry_log() -> RetryLog:
    """Return the log of this process: a fork begins one, since its parent's lock may be taken."""
    return _LOGS.setdefault(os.getpid(), RetryLog())


def _say(words: str) -> None:
    sys.stderr.write(f"store   {words}\n")
    sys.stderr.flush()
