"""Goodput: the formula against a job of 1,024 ranks that lives through its failures."""

import pytest

from counterpoint.plan.goodput import DETECT, FAILURES, RESTART, best_interval, goodput
from reference.failures import simulated_goodput

RANKS = 1024


@pytest.mark.parametrize("rate", FAILURES, ids=lambda rate: rate.name)
@pytest.mark.parametrize("save", [1.0, 10.0])
@pytest.mark.parametrize("restart", [60.0, DETECT + RESTART, 600.0])
def test_the_formula_is_what_1024_ranks_live_through(rate, save, restart):
    between = rate.between(RANKS)
    interval = best_interval(save, between)
    lived = simulated_goodput(
        ranks=RANKS,
        rank_hours=rate.gpu_hours,
        interval=interval,
        save=save,
        restart=restart,
        failures=1000,
    )
    assert lived == pytest.approx(goodput(interval, save, restart, between), abs=0.01)


@pytest.mark.parametrize("rate", FAILURES, ids=lambda rate: rate.name)
def test_1024_ranks_keep_98_percent_at_published_rates(rate):
    """The interval is the one that is proposed: for the worse rate."""
    interval = best_interval(1.0, FAILURES[-1].between(RANKS))
    lived = simulated_goodput(
        ranks=RANKS,
        rank_hours=rate.gpu_hours,
        interval=interval,
        save=1.0,
        restart=DETECT + RESTART,
        failures=1000,
    )
    assert lived >= 0.98


def test_other_intervals_are_worse():
    between = FAILURES[-1].between(RANKS)
    best = best_interval(2.0, between)
    assert all(
        goodput(best, 2.0, 180.0, between) > goodput(best * other, 2.0, 180.0, between)
        for other in (0.25, 0.5, 2, 4)
    )
