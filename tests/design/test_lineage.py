"""A line from a known method to the one found, and what each change bought."""

import pytest

from counterpoint.design.lineage import lineage
from design.candidates import BEST, CROSSED, FAMILY, MOCO, SIMCLR, TRIPLET, by_name

FIRST = by_name(simclr=0.2, moco=0.1, triplet=0.6, crossed=0.7, best=0.9)
SECOND = by_name(simclr=0.1, triplet=0.3, best=0.8)


def test_the_line_follows_the_better_parent_and_names_the_other():
    line = lineage(BEST, FAMILY, [FIRST])
    assert [one.candidate for one in line] == [SIMCLR, TRIPLET, CROSSED, BEST]
    assert [one.other for one in line] == [None, None, MOCO, None]
    assert line[0].rung is None
    assert [one.bought for one in line[1:]] == pytest.approx([0.4, 0.1, 0.2])


def test_the_better_parent_is_the_one_that_came_further():
    """On the first rung the first parent is ahead; only the second reached the next."""
    line = lineage(BEST, FAMILY, [FIRST, by_name(moco=0.0)])
    assert [one.candidate for one in line] == [MOCO, CROSSED, BEST]
    assert line[1].other == TRIPLET


def test_a_change_is_measured_on_the_highest_rung_that_both_reached():
    line = lineage(BEST, FAMILY, [FIRST, SECOND])
    assert [one.rung for one in line] == [None, 1, 0, 0]
    assert [one.bought for one in line[1:]] == pytest.approx([0.2, 0.1, 0.2])


def test_watched_figures_are_compared_where_both_have_them():
    watched = [by_name(simclr={"knn": 0.5}, triplet={"knn": 0.45, "mlp": 0.7}, crossed={})]
    line = lineage(CROSSED, FAMILY, [FIRST], watched)
    assert line[1].gains == pytest.approx({"knn": -0.05})
    assert line[2].gains == {}


def test_a_known_method_and_a_child_of_nobody_are_lines_of_one():
    assert [one.candidate for one in lineage(SIMCLR, FAMILY, [FIRST])] == [SIMCLR]
    alone = {BEST.fingerprint: BEST}
    assert [one.candidate for one in lineage(BEST, alone, [FIRST])] == [BEST]


def test_a_parent_that_was_never_run_with_it_says_nothing():
    line = lineage(TRIPLET, FAMILY, [by_name(triplet=0.5)])
    assert (line[1].rung, line[1].bought) == (None, None)
