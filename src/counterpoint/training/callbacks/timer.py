"""When the next checkpoint is due."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Timer:
    """Time since the last checkpoint; `seconds` of 0 asks for one after every step.

    >>> timer = Timer(60.0, clock=iter([0.0, 30.0, 61.0]).__next__)
    >>> timer.due(), timer.due()
    (False, True)
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    last: float = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.clock()

    def due(self) -> bool:
        return self.clock() - self.last >= self.seconds

    def reset(self) -> None:
        self.last = self.clock()
