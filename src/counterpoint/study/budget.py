"""How long a trial trains: by images seen, by arithmetic, or by the clock."""

from dataclasses import dataclass

from counterpoint.framework import codec


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one step takes: its images, its floating-point operations, its seconds."""

    images: int
    flops: float
    seconds: float | None = None
    """None where it was not measured."""


@dataclass(frozen=True, slots=True)
class Images:
    """Equal images seen: n / batch steps, rounded to the nearest, one at least.

    >>> Images(1000).steps(StepCost(images=256, flops=1e9))
    4
    """

    n: int

    def __post_init__(self) -> None:
        _more_than_nothing("Images", self.n)

    def steps(self, step: StepCost) -> int:
        return max(1, round(self.n / step.images))


@dataclass(frozen=True, slots=True)
class Flops:
    """Equal compute: as many steps as n floating-point operations pay for.

    >>> Flops(1e12).steps(StepCost(images=256, flops=3e10))
    33
    """

    n: float

    def __post_init__(self) -> None:
        _more_than_nothing("Flops", self.n)

    def steps(self, step: StepCost) -> int:
        return max(1, int(self.n // step.flops))


@dataclass(frozen=True, slots=True)
class Seconds:
    """Equal time on this machine: a few steps are timed, and the rest is a division.

    Of the three this is the only one that another machine, or a busy hour, changes.

    >>> Seconds(60).steps(StepCost(images=256, flops=3e10, seconds=0.5))
    120
    """

    n: float

    def __post_init__(self) -> None:
        _more_than_nothing("Seconds", self.n)

    def steps(self, step: StepCost) -> int:
        if step.seconds is None:
            raise ValueError("study: a budget in seconds needs a step that was timed")
        return max(1, int(self.n // step.seconds))


Budget = Images | Flops | Seconds
"""How much a trial may consume."""


def _more_than_nothing(kind: str, n: object) -> None:
    if not codec.fits(n, int if kind == "Images" else float):
        needs = "an int" if kind == "Images" else "a finite number"
        raise ValueError(f"study: got the budget {kind}({n!r}), needs {needs}, more than 0")
    assert isinstance(n, int | float)
    if not n > 0:
        raise ValueError(f"study: got the budget {kind}({n}), needs more than 0")
