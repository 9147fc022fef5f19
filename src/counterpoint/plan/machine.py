"""What a machine does in a second, and how long operators take on it."""

from collections.abc import Mapping
from dataclasses import dataclass

from counterpoint.training.operator_count import Kind, Work


@dataclass(frozen=True, slots=True)
class Rate:
    """Operations and bytes a second of one kind of operator.

    >>> Rate(flops=1e14, bytes=2e12).flops
    100000000000000.0
    """

    flops: float
    bytes: float


Rates = Mapping[Kind, Rate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A GPU, or this machine: how fast it is, and what it holds.

    >>> rates = {"product": Rate(flops=1e12, bytes=1e10)}
    >>> one = Machine(
    ...     name="mine", memory=16e9, single=rates, half=rates,
    ...     start=1e-5, link=1e10, node=1, source="measured",
    ... )
    >>> one.rates(half=False)["product"].flops
    1000000000000.0
    """

    name: str
    memory: float
    """Bytes that a process may use."""
    single: Rates
    """With 32-true."""
    half: Rates
    """With bf16-mixed."""
    start: float
    """Seconds of an operator that does nothing."""
    link: float
    """Bytes a second, in one direction, between two GPUs of one node."""
    node: int
    """GPUs of a node."""
    source: str

    def rates(self, *, half: bool) -> Rates:
        return self.half if half else self.single


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of some operators: of their arithmetic, of their bytes, and of their starts.

    >>> (Taken(1.0, 2.0) + Taken(0.5)).total
    3.5
    """

    arithmetic: float = 0.0
    traffic: float = 0.0
    starts: float = 0.0

    @property
    def total(self) -> float:
        return self.arithmetic + self.traffic + self.starts

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(
            self.arithmetic + other.arithmetic,
            self.traffic + other.traffic,
            self.starts + other.starts,
        )


def time_of(work: Mapping[Work, float], rates: Rates, start: float) -> Taken:
    r"""Add up the time of operators.

    $$ t = \sum_{operators} f / F + b / B + s $$

    with f operations at F a second, b bytes at B a second and s seconds to start, F and B being
    those of its kind. A sum, not the larger of both as a roofline has: the rates are fitted to it.

    >>> rates = {"product": Rate(flops=100.0, bytes=10.0)}
    >>> time_of({Work("product", 50.0, 20.0): 2.0}, rates, start=0.5)
    Taken(arithmetic=1.0, traffic=4.0, starts=1.0)
    """
    return Taken(
        sum(times * w.flops / rates[w.kind].flops for w, times in work.items()),
        sum(times * w.bytes / rates[w.kind].bytes for w, times in work.items()),
        sum(work.values()) * start,
    )
