"""One word for the health of a run, and one sentence that says why and what to do.

The limits were chosen by looking at real runs on CIFAR-10, failing and healthy ones; docs/health.md
has the table. Each lies between the nearest failing and the nearest healthy run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from counterpoint.evaluation.health.signs import Signs

Word = Literal["broken", "trivial", "collapsed", "collapsing", "slow", "starting", "healthy"]

NOTHING = 0.01  # of a pixel's deviation: constant images and identical views had 0, others 0.4 on
SOLVED = 0.5  # top-1 of random weights: seven methods had at most 0.09, identical views 1
SURE = 1.5  # surprise: a temperature of 0.001 had 8.6 before training, healthy runs at most 1.02
ONE_POINT = 1.5  # rank: weights of zero have 1, random weights had 4.4 and more
CLOSED = 0.03  # deviation of compared vectors: no run that still moved was below
CLOSER = 0.6  # of that before training: failing runs had 0.2 to 0.5, healthy ones 1.5 and more
FAR = 0.3  # ... and in itself: no trained healthy run was below 0.37
FLAT = 0.5  # rank of compared vectors, of that before training: failing 0.4, healthy 0.8 and more
NARROW = 0.2  # ... and of the width: failing 0.06, healthy ones that lost rank 0.27
PROGRESS = 0.01  # of a guess's surprise: healthy runs gained 0.012 and more in their first epoch


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word and the reason for it.

    >>> Verdict("healthy", "top-1 is 0.8").word
    'healthy'
    """

    word: Word
    why: str


def verdict(history: Sequence[Signs]) -> Verdict:
    """Judge a run by its measurements so far, the latest first.

    Works best with a measurement before training (step 0): a fall is seen only against it.

    >>> import torch
    >>> from counterpoint import as_source, simclr_small
    >>> from counterpoint.evaluation.health import take_look
    >>> black = as_source(torch.zeros(16, 3, 16, 16, dtype=torch.uint8))
    >>> signs = take_look(simclr_small().build(image=(3, 16, 16)), black, torch.arange(16))
    >>> verdict([signs])
    Verdict(word='trivial', why='All images look the same: look at the data and at how it is read')
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
    why = f"Loss {now.loss:.3g}, rank {now.rankme:.3g}, not finite: lower the learning rate"
    return Verdict("broken", why)


def _trivial(now: Signs, start: Signs | None) -> Verdict | None:
    """Find a task that is nothing to learn from: it has no content, or it is solved already."""
    if now.images_apart < NOTHING:
        why = "All images look the same: look at the data and at how it is read"
    elif now.texture < NOTHING:
        why = "Every image is one flat colour: look at the data and at how it is read"
    elif now.views_apart < NOTHING:
        why = "The views of an image are all the same: part (1) needs a stage with chance"
    elif start is not None and start.top1 > SOLVED:
        why = f"Random weights find {start.top1:.2f} of the positives: make part (1) stronger"
    else:
        return None
    return Verdict("trivial", why)


def _sharp(now: Signs, start: Signs | None) -> Verdict | None:
    """Find a softmax that is a maximum: sure of its answers before it has learned anything.

    Vectors of length one, or behind a clip, become less sure only by closing up. Without a bound
    they become shorter: nothing is wrong with that.
    """
    first = now if start is None or math.isnan(start.surprise) else start
    if not (now.bounded and first.surprise > SURE):
        return None
    why = f"Wrong answers cost {first.surprise:.1f} times a guess's, now {now.surprise:.1f}"
    advice = "raise tau of part (4), or lower its clip"
    return Verdict("collapsing", f"{why}, and vectors close up instead of learning: {advice}")


def _one_point(now: Signs, _start: Signs | None) -> Verdict | None:
    if now.rankme >= ONE_POINT:
        return None
    rank = f"Rank {now.rankme:.1f} of {_most(now)}: all images have one vector"
    return Verdict("collapsed", f"{rank}; lower the learning rate or look at how weights begin")


def _closer(now: Signs, start: Signs | None) -> Verdict | None:
    """Find compared vectors that draw together; before training any spread will do."""
    spread = now.compared_deviation
    if now.step == 0 or _apart_by_length(now, start) or (spread >= CLOSED and start is None):
        return None
    if start is not None and spread >= max(CLOSED, min(CLOSER * start.compared_deviation, FAR)):
        return None
    was = "" if start is None else f", {start.compared_deviation:.2g} before training"
    why = f"Compared vectors spread over {spread:.2g} of the sphere{was}"
    advice = "it needs negatives, or a predictor and a slower twin"
    return Verdict("collapsed" if spread < CLOSED else "collapsing", f"{why}: {advice}")


def _flatter(now: Signs, start: Signs | None) -> Verdict | None:
    """Find compared vectors that fall into few dimensions (Jing et al. 2022)."""
    if start is None or now.step == 0 or _apart_by_length(now, start):
        return None
    rank, width = now.compared_rank, now.compared_width
    if rank >= FLAT * start.compared_rank or rank >= NARROW * width:
        return None
    fell = f"Rank {rank:.1f} of {width} behind the head, {start.compared_rank:.1f} before training"
    return Verdict("collapsing", f"{fell}: lower the learning rate")


def _slow(now: Signs, start: Signs | None) -> Verdict | None:
    if start is None or now.step == 0:
        return None
    before = _before(start)
    if not now.surprise > before - PROGRESS:
        return None
    figures = f"surprise {now.surprise:.3f} of a guess's, {before:.3f} before training"
    why = f"Has hardly learned in {now.step:,} steps ({figures})"
    advice = "train longer or raise the learning rate"
    if not now.bounded and now.surprise > 1 + PROGRESS:  # sure, and wrong: not for want of steps
        advice = "scores without a bound grow faster than they learn; lower the learning rate, "
        advice += "or scale them in part (4)"
    return Verdict("slow", f"{why}: {advice}")


def _apart_by_length(now: Signs, start: Signs | None) -> bool:
    """Whether scores without a bound tell images apart, whatever the directions of vectors do.

    The spread and the rank are of directions; a dot product also has the lengths.
    """
    return not now.bounded and now.surprise < _before(start) - PROGRESS


def _before(start: Signs | None) -> float:
    """Return the surprise before training; that of a guess where it is not known, as of a queue."""
    return 1.0 if start is None or math.isnan(start.surprise) else start.surprise


RULES: tuple[Callable[[Signs, Signs | None], Verdict | None], ...] = (
    *(_broken, _trivial, _sharp, _one_point, _closer, _flatter, _slow),
)


def _figures(now: Signs) -> str:
    found = "" if math.isnan(now.top1) else f", top-1 {now.top1:.2f}"
    return f"Rank {now.rankme:.0f} of {_most(now)}{found}"


def _most(now: Signs) -> int:
    return min(now.width, now.images)
