"""A part of a user's own that makes its trial crash, a number of times."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from counterpoint.parts.extraction import Pooled


@dataclass(frozen=True, slots=True)
class Crashing:
    """Pooled vectors, but the first `times` builds end the trial; `file` counts them."""

    part: ClassVar[str] = "extraction"
    file: str
    times: int
    how: str

    def build(self, maps):
        if maps[0][0][0] and self._left():
            if self.how == "exit":
                os._exit(7)
            raise RuntimeError("made to crash")
        return Pooled().build(maps)

    def _left(self):
        counted = Path(self.file)
        before = len(counted.read_text()) if counted.exists() else 0
        if before >= self.times:
            return False
        counted.write_text("x" * (before + 1))
        return True
