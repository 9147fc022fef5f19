"""Ask a store again when it fails: the one place where that is done, said and counted.

The wait before try n + 1 is min(first * 2^(n - 1), longest) times a number from 1/2 to 1 that is
a hash of the machine, the process, the request and n: many processes that failed together do not
come back together, and no random numbers are drawn.
"""

import hashlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from counterpoint.data.stores.retry_log import retry_log
from counterpoint.failures import RunFailure
from counterpoint.pulse import beat

Answer = TypeVar("Answer")

FINAL = (
    *(FileNotFoundError, PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError),
    *(ValueError, TypeError, AttributeError, LookupError, ImportError, NotImplementedError),
    *(AssertionError, MemoryError),
)
"""What asking again does not mend: a file that is not there, a right that is missing, a defect."""


class EndsEarlyError(OSError):
    """A file that is shorter than what was asked for, in the store itself."""


class StoreFailure(RunFailure):
    """A store that did not answer for as long as we are patient: no file is to blame.

    >>> str(StoreFailure("Caught StoreFailure in a worker. ... StoreFailure: read a failed"))
    'read a failed'
    """

    def __init__(self, message: str) -> None:
        if message.startswith("Caught "):  # in a worker: torch puts its traceback before the end
            message = message.rpartition("StoreFailure: ")[2].strip()
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a store, in seconds.

    >>> patience = Patience(first=1, longest=4)
    >>> waits = [patience.wait("a request", failures) for failures in range(1, 6)]
    >>> [low <= wait <= 2 * low for low, wait in zip([0.5, 1, 2, 2, 2], waits)]
    [True, True, True, True, True]
    """

    request: float = 20.0
    """For one request, besides the time that its bytes take at `slowest`."""
    slowest: float = 250_000.0
    """Bytes a second: a store that is slower is asked again."""
    first: float = 0.25
    longest: float = 15.0
    in_all: float = 600.0
    """From the first failure of a request until the run ends for it."""

    def limit(self, length: int) -> float:
        """Return how long a request for so many bytes may take."""
        return self.request + length / self.slowest

    def wait(self, what: str, failures: int) -> float:
        """Return how long to wait after some failures of a request."""
        longest = min(self.first * 2.0 ** min(failures - 1, 30), self.longest)
        key = f"{socket.gethostname()} {os.getpid()} {what} {failures}"
        word = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
        return longest * (0.5 + 0.5 * word / 2**64)


def environment_patience() -> Patience:
    """Read COUNTERPOINT_STORE_TIMEOUT (a request) and COUNTERPOINT_STORE_PATIENCE (in all)."""
    usual = Patience()
    return Patience(
        request=_seconds("COUNTERPOINT_STORE_TIMEOUT", usual.request),
        in_all=_seconds("COUNTERPOINT_STORE_PATIENCE", usual.in_all),
    )


def ask(
    what: str,
    request: Callable[[], Answer],
    patience: Patience,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Return the answer to a request, however often it has to be asked.

    A `FileNotFoundError` and what else lies in `FINAL` is raised at once; a store that fails for
    longer than `patience.in_all` is a `StoreFailure`. `what` names the request for people; it is
    in the log, so no credentials are in it.

    >>> answers = iter([OSError("503"), OSError("reset"), "the bytes"])
    >>> def request():
    ...     found = next(answers)
    ...     if isinstance(found, OSError):
    ...         raise found
    ...     return found
    >>> ask("read s3://bucket/a", request, Patience(first=0.001))
    'the bytes'
    """
    began = 0.0
    failures = 0
    while True:
        try:
            answer = request()
        except (*FINAL, EndsEarlyError, RunFailure):
            raise
        except Exception as error:
            if missing_credentials(error):
                raise PermissionError(f"{what}: {error}") from None
            failures += 1
            now = time.monotonic()
            began = began or now
            wait = patience.wait(what, failures)
            if now + wait - began > patience.in_all:
                raise StoreFailure(
                    f"{what} failed {failures} times in {now - began:.0f} s, the last time with "
                    f"{reason(error)}; start again with --resume when the store is back, or wait "
                    "longer by COUNTERPOINT_STORE_PATIENCE (seconds)"
                ) from error
            retry_log().failed(what, reason(error), wait)
        else:
            if failures:
                retry_log().mended(what, failures, time.monotonic() - began)
            return answer
        sleep(wait)
        beat()  # patience is bounded, so a run that waits for a store moves


def missing_credentials(error: BaseException) -> bool:
    """Whether a store's library found no way to sign requests: no time mends that."""
    return "Credentials" in type(error).__name__ or "ParamValidation" in type(error).__name__


def reason(error: BaseException) -> str:
    """Say an error of a store's library in one short line.

    >>> reason(TimeoutError())
    'TimeoutError'
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}" if text else type(error).__name__


def _seconds(variable: str, usual: float) -> float:
    text = os.environ.get(variable, "")
    try:
        found = float(text) if text else usual
    except ValueError:
        found = -1.0
    if not found > 0:
        raise ValueError(f"{variable}: got {text!r}, needs a number of seconds above 0")
    return found
