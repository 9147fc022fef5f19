"""A part of a user's own that is the whole work of a trial: it sleeps, and writes that down.

With kind="random" and no probes a trial builds its model and is done.
"""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from counterpoint.parts.extraction import Pooled


@dataclass(frozen=True, slots=True)
class Sleeping:
    """Pooled vectors after a sleep; each run adds a line to `ledger` at its start and its end."""

    part: ClassVar[str] = "extraction"
    number: int
    seconds: float
    ledger: str
    results: str

    def build(self, maps):
        if torch.empty(0).device.type != "meta":  # the dry run of a build is no work
            outcomes = Path(self.results).glob(f"fake-{self.number}-*/outcome.json")
            self._write("start", finished_before=any(outcomes))
            time.sleep(self.seconds)
            self._write("end")
        return Pooled().build(maps)

    def _write(self, what, **more):
        """Add a line in one write: lines of processes that share a file stay whole."""
        line = json.dumps({"trial": self.number, "what": what, "pid": os.getpid(), **more})
        with Path(self.ledger).open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())
