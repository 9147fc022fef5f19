"""From numbers to places on a chart, and numbers that suit an axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map of the numbers low to high onto the places start to end."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, wanted: int) -> list[float]:
        """List round numbers on the axis.

        >>> Scale(0, 1, 0, 100).ticks(5)
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        step = _step((self.high - self.low) / wanted)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(n * step, 12) for n in range(first, last + 1)]


def scale(values: Sequence[float], start: float, end: float, *, zero: bool = False) -> Scale:
    """Fit a scale to values with a little room, from zero if asked.

    >>> scale([10.0, 30.0], 0, 1)
    Scale(low=9.0, high=31.0, start=0, end=1)
    """
    low, high = min(values, default=0.0), max(values, default=1.0)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    room = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    below = 0.0 if zero and low == 0 else room
    return Scale(low - below, high + room, start, end)


def tick_words(value: float) -> str:
    """Write a number on an axis.

    >>> [tick_words(v) for v in (0.0, 0.25, 1500.0, 20000.0, -3.0, 0.0005)]
    ['0', '0.25', '1,500', '20k', '-3', '0.0005']
    """
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(s * power for s in STEPS if s * power >= least * (1 - 1e-9))
