"""What the proxy does wrong: a function of a seed, of the request, and of how often it came."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Faults:
    """Shares of requests, from 0 to 1; one request has at most one fault."""

    seed: int = 0
    errors: float = 0.0
    """Answered 500 or 503, by turns."""
    resets: float = 0.0
    """The connection is reset before there is an answer."""
    truncated: float = 0.0
    """The body ends too early; every other time the header says the shorter length."""
    stalls: float = 0.0
    """Nothing is said for `stall_seconds`, then the answer comes."""
    stall_seconds: float = 1.0
    lost: tuple[str, ...] = field(default_factory=tuple)
    """Keys (without the bucket) that are gone: 404."""
    down_after: int | None = None
    """The number of requests after which the store is down for `down_seconds`."""
    down_seconds: float = 0.0
    first: int = 0
    """This many requests are answered well before any fault."""

    def fault(self, request: str, times: int) -> str:
        """Name the fault of a request that came `times` times before: it may be none."""
        words = hashlib.sha256(f"{self.seed} {request} {times}".encode()).digest()
        place = int.from_bytes(words[:8]) / 2**64
        odd = words[8] & 1
        kinds = (
            ("error 503" if odd else "error 500", self.errors),
            ("reset", self.resets),
            ("truncated short" if odd else "truncated cut", self.truncated),
            ("stall", self.stalls),
        )
        for name, share in kinds:
            if place < share:
                return name
            place -= share
        return ""
