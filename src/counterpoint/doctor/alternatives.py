"""Ways to train the same job, what each was measured to cost, and which to take."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from counterpoint.framework.settings import Precision

GAIN = 1.05  # times as fast: less is not worth another setting; our choice, as the next two
GAIN_BATCH = 1.2  # of a smaller batch, which has fewer negatives
CLOSE = 0.02  # of the loss: bf16 has three digits; `counterpoint check` asks for the same


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to train, and what was measured of it."""

    batch: int
    precision: Precision = "32-true"
    compiled: bool = False
    seconds: tuple[float, ...] = ()
    """Of each step that was measured, in turn with the steps of the others."""
    warmup: float = 0.0
    """Seconds before the first step is done: of compiling."""
    memory: int = 0
    """Bytes that training needs, about."""
    losses: tuple[float, ...] = ()
    """Of the first steps, from the same weights on the same images as every other."""

    @property
    def speed(self) -> float:
        """Images per second, by the median step."""
        return self.batch / median(self.seconds)

    def total(self, images: int) -> float:
        """Return the seconds that a number of images takes, with the warm-up."""
        return self.warmup + images / self.speed


@dataclass(frozen=True, slots=True)
class WayVerdict:
    """What was decided about one alternative, and why."""

    way: Alternative
    taken: bool
    why: str


def faster(one: Alternative, other: Alternative) -> bool:
    """Whether one is faster than another by more than the noise.

    Three quarters of its steps are quicker per image than three quarters of the other's.

    >>> slow = Alternative(8, seconds=(1.0, 1.1, 1.2, 1.3))
    >>> faster(Alternative(8, seconds=(0.5, 0.6, 0.6, 2.0)), slow)
    True
    >>> faster(Alternative(8, seconds=(0.5, 0.9, 1.2, 2.0)), slow)
    False
    """
    return _quarter(one, 2) < _quarter(other, 0)


def agrees(one: Alternative, other: Alternative) -> bool:
    """Whether two ways have the same losses, to two hundredths.

    >>> agrees(Alternative(8, losses=(4.0, 3.9)), Alternative(8, losses=(4.01, 3.88)))
    True
    """
    pairs = list(zip(one.losses, other.losses, strict=True))
    return bool(pairs) and all(abs(a - b) <= CLOSE * max(abs(b), 1e-12) for a, b in pairs)


def decide(base: Alternative, others: Sequence[Alternative], *, images: int) -> list[WayVerdict]:
    """Choose between a safe way and others, for a run that will see a number of images.

    Another is taken only if its losses agree with those of the safe way, if it is faster by more
    than the noise, and if the whole run ends sooner by a twentieth, warm-up included. Of several
    the one whose run ends first is taken. The safe way comes first in what is returned.

    >>> base = Alternative(8, seconds=(1.0, 1.0, 1.0), losses=(4.0,))
    >>> half = Alternative(8, "bf16-mixed", seconds=(0.5, 0.5, 0.5), losses=(4.0,))
    >>> [(verdict.taken, verdict.why) for verdict in decide(base, [half], images=800)]
    [(False, ''), (True, '2.0 times as fast')]
    """
    reasons = [_against(way, base, images) for way in others]
    fit = [way for way, reason in zip(others, reasons, strict=True) if reason is None]
    best = min(fit, key=lambda way: way.total(images), default=base)
    verdicts = [WayVerdict(base, base is best, "the safe choice" if best is base else "")]
    for way, reason in zip(others, reasons, strict=True):
        ratio = f"{way.speed / base.speed:.1f} times as fast"
        verdicts.append(WayVerdict(way, way is best, ratio if reason is None else reason))
    return verdicts


def _against(way: Alternative, base: Alternative, images: int) -> str | None:
    """Say what speaks against taking one; None where nothing does."""
    if way.batch == base.batch and not agrees(way, base):
        return "its losses are others"
    if way.speed < base.speed:
        return f"slower, {way.speed / base.speed:.2f} of the speed"
    if not faster(way, base):
        return "no faster than the noise"
    needed = GAIN if way.batch >= base.batch else GAIN_BATCH
    if way.speed < needed * base.speed:
        fewer = ", and has fewer negatives" if way.batch < base.batch else ""
        return f"only {way.speed / base.speed:.2f} times as fast{fewer}"
    if needed * way.total(images) > base.total(images):
        return f"{way.warmup:.0f} s of warm-up do not pay in this run"
    return None


def _quarter(way: Alternative, which: int) -> float:
    """Return a quartile of the seconds per image."""
    each = [seconds / way.batch for seconds in way.seconds]
    return quantiles(each, n=4, method="inclusive")[which] if len(each) > 1 else each[0]
