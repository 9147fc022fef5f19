"""One word for the health of a run, and one sentence that says why and what to do.

The limits were chosen by looking at real runs on CIFAR-10, failing and healthy ones; docs/health.md
has the table. Each lies between the nearest failing and the nearest healthy run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from counterpoint.evaluation.health.signs import Signs

Word = Literal[
    "broken",
    "blank",
    "trivial",
    "saturated",
    "collapsed",
    "collapsing",
    "slow",
    "starting",
    "healthy",
]

NOTHING = 0.01  # of a pixel's deviation: constant images and identical views had 0, others 0.4 on
SOLVED = 0.5  # top-1 of random weights: flips alone had FLIPS, seven methods at most 0.09
SURE = 1.5  # surprise: a temperature of 0.001 had 8.6 before training, healthy runs at most 1.02
ONE_POINT = 1.5  # rank: weights of zero had 1.0, random weights at least 4.4
CLOSE = 0.1  # deviation of compared vectors: collapsed runs 0.04 to 0.09, trained healthy from 0.37
CLOSER = 0.6  # of that before training: failing at most 0.5, healthy at least 1.5
FLAT = 0.5  # rank of compared vectors, of that before training: failing 0.4, healthy from 0.8
NARROW = 0.2  # ... and of the width: failing 0.06, healthy ones that lost rank 0.27
PROGRESS = 0.01  # of a guess's surprise: a rate of a thousandth gained SLOWGAIN, healthy from 0.012


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word and the reason for it."""

    word: Word
    why: str


def verdict(history: Sequence[Signs]) -> Verdict:
    """Judge a run by its looks so far, the last one first.

    Best with a look before training (step 0): a fall is seen only against it.
    """
    now = history[-1]
    start = history[0] if history[0].step == 0 else None
    for rule in RULES:
        if (found := rule(now, start)) is not None:
            return found
    return Verdict("healthy" if now.step else "starting", _figures(now))


def _broken(now: Signs, _start: Signs | None) -> Verdict | None:
    last = (now.rankme, now.loss, now.step_loss, now.gradient_norm)
    if all(value is None or math.isfinite(value) for value in last):
        return None
    why = f"loss {now.loss:.3g}, rank {now.rankme:.3g}: not finite; lower the learning rate"
    return Verdict("broken", why)


def _blank(now: Signs, _start: Signs | None) -> Verdict | None:
    if now.images_apart < NOTHING:
        return Verdict("blank", "all images look the same: look at the data and how it is read")
    if now.texture < NOTHING:
        return Verdict(
            "blank", "every image is one flat colour: look at the data and how it is read"
        )
    return None


def _trivial(now: Signs, start: Signs | None) -> Verdict | None:
    if now.views_apart < NOTHING:
        return Verdict("trivial", "both views of an image are the same: the views need chance")
    if start is not None and start.top1 > SOLVED:
        found = f"random weights find {start.top1:.2f} of the positives"
        return Verdict("trivial", f"{found}: views are too alike, make them stronger")
    return None


def _saturated(now: Signs, _start: Signs | None) -> Verdict | None:
    if not now.surprise > SURE:
        return None
    why = f"sure and wrong, {now.surprise:.1f} times as surprised as a guess: raise the temperature"
    return Verdict("saturated", why)


def _one_point(now: Signs, _start: Signs | None) -> Verdict | None:
    if now.rankme >= ONE_POINT:
        return None
    rank = f"rank {now.rankme:.1f} of {_most(now)}: all images have one vector"
    return Verdict("collapsed", f"{rank}; lower the learning rate and look at how weights begin")


def _closer(now: Signs, start: Signs | None) -> Verdict | None:
    """Find compared vectors that draw together; before training any spread will do."""
    if now.step == 0:
        return None
    spread, was = (
        now.compared_deviation,
        "" if start is None else f", {start.compared_deviation:.2g} at the start",
    )
    why = f"compared vectors spread {spread:.2g} of the sphere{was}: {_against_closing(start)}"
    if spread < CLOSE:
        return Verdict("collapsed", why)
    if start is not None and spread < min(CLOSER * start.compared_deviation, CLOSE * 3):
        return Verdict("collapsing", why)
    return None


def _against_closing(start: Signs | None) -> str:
    if start is not None and start.surprise > SURE:
        return "raise the temperature"
    return "add negatives, a predictor or a slower twin, or raise the temperature"


def _flatter(now: Signs, start: Signs | None) -> Verdict | None:
    """Find compared vectors that fall into few dimensions (Jing et al. 2022)."""
    if start is None or now.step == 0:
        return None
    rank, width = now.compared_rank, now.compared_width
    if rank >= FLAT * start.compared_rank or rank >= NARROW * width:
        return None
    fell = f"rank {rank:.1f} of {width} behind the head, {start.compared_rank:.1f} at the start"
    return Verdict("collapsing", f"{fell}: lower the learning rate")


def _slow(now: Signs, start: Signs | None) -> Verdict | None:
    if start is None or now.step == 0:
        return None
    before = start.surprise if math.isfinite(start.surprise) else 1.0  # an empty queue: a guess
    if not now.surprise > before - PROGRESS:
        return None
    why = f"surprise {now.surprise:.3f} of a guess's, {before:.3f} at the start"
    return Verdict("slow", f"{why}: train longer or raise the learning rate")


RULES: tuple[Callable[[Signs, Signs | None], Verdict | None], ...] = (
    *(_broken, _blank, _trivial, _saturated, _one_point, _closer, _flatter, _slow),
)


def _figures(now: Signs) -> str:
    labels = "" if now.knn is None else f", kNN {now.knn:.2f}"
    found = "" if math.isnan(now.top1) else f", top-1 {now.top1:.2f}"
    return f"rank {now.rankme:.0f} of {_most(now)}{found}{labels}"


def _most(now: Signs) -> int:
    return min(now.width, now.images)
