"""What ran on the pretend accelerator, by source line."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import counterpoint

PACKAGE = str(Path(counterpoint.__file__).parent) + "/"
HERE = str(Path(__file__).parent) + "/"
OTHERS = (
    HERE,
    "/torch/",
    "/torchvision/",
    "/timm/",
    "/jaxtyping/",
    "/beartype/",
    "/contextlib.py",
    "<",
)


@dataclass
class Seen:
    """Operators, kernels (operators that are not mere views) and host waits."""

    operators: Counter = field(default_factory=Counter)
    """By line, as "parts/similarity/phi.py:40"."""
    kernels: int = 0
    waits: Counter = field(default_factory=Counter)
    """By line and kind, as "parts/similarity/phi.py:40 item"."""

    def clear(self):
        self.operators.clear()
        self.waits.clear()
        self.kernels = 0

    def operator(self, *, kernel):
        self.operators[line()] += 1
        self.kernels += kernel

    def wait(self, kind):
        self.waits[f"{line()} {kind}"] += 1


def line():
    """Name the innermost line that runs, be it of counterpoint, of Lightning or of a test."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            return f"{file.removeprefix(PACKAGE)}:{frame.f_lineno}"
        if not any(other in file for other in OTHERS):
            return f"{'/'.join(Path(file).parts[-2:])}:{frame.f_lineno}"
        frame = frame.f_back
    return "unknown"
