"""Rungs, their cost, and who advances."""

from dataclasses import replace

import pytest

from counterpoint.design.halving import promoted, round_cost, rungs
from counterpoint.design.judging import LOST, standing


@pytest.mark.parametrize(("size", "places"), [(27, [27, 9, 3]), (8, [8, 2, 1]), (1, [1, 1, 1])])
def test_a_third_goes_on_and_one_at_least(size, places):
    assert [rung.places for rung in rungs(size, 1e12)] == places
    assert [rung.budget.n for rung in rungs(size, 9e12)] == pytest.approx([1e12, 3e12, 9e12])


def test_each_rung_of_a_round_costs_the_same():
    costs = [rung.places * rung.budget.n for rung in rungs(27, 1.0)]
    assert costs == pytest.approx([3.0, 3.0, 3.0])
    assert round_cost(27) == pytest.approx(9.0)


def test_a_round_that_is_not_halved_is_the_last_rung_alone():
    (only,) = rungs(27, 9e12, halved=False)
    assert only == replace(rungs(27, 9e12)[-1], places=27)
    assert round_cost(27, halved=False) == pytest.approx(27.0)


def test_losers_never_go_on_even_if_places_are_free():
    assert promoted({"a": LOST, "b": 0.0, "c": LOST}, 2) == ["b"]
    assert promoted({"a": LOST}, 1) == []


def test_the_order_of_the_candidates_does_not_matter():
    scores = {"c": 0.5, "a": 0.5, "b": 0.7}
    assert promoted(scores, 2) == promoted(dict(reversed(scores.items())), 2) == ["b", "a"]


def test_a_standing_is_by_rank_whatever_the_scale():
    seen = {
        "a": {"rankme": 1e6, "rotation": 0.50},
        "b": {"rankme": 20.0, "rotation": 0.52},
        "c": {"rankme": 10.0, "rotation": 0.51},
    }
    assert standing(seen, criteria=("rankme", "rotation")) == {"a": 0.5, "b": 0.75, "c": 0.25}


def test_alpha_is_best_near_one():
    seen = {"a": {"alpha": 0.2}, "b": {"alpha": 1.1}, "c": {"alpha": 3.0}}
    assert standing(seen, criteria=("alpha",)) == {"a": 0.5, "b": 1.0, "c": 0.0}


def test_what_is_not_a_number_is_last_and_what_collapsed_is_out():
    seen = {
        "a": {"rankme": float("nan"), "collapsed": 0.0},
        "b": {"rankme": 3.0, "collapsed": 0.0},
        "c": {"rankme": 99.0, "collapsed": 1.0},
        "d": {},
    }
    assert standing(seen, criteria=("rankme",)) == {"a": 0.0, "b": 1.0, "c": LOST, "d": LOST}
    assert standing({"d": {}}, criteria=("rankme",)) == {"d": LOST}


def test_a_probe_chooses_by_validation_and_never_by_test():
    seen = {
        "a": {"knn": 0.9, "knn validation": 0.2, "rankme": 9.0},
        "b": {"knn": 0.1, "knn validation": 0.3, "rankme": 1.0},
    }
    assert standing(seen, criteria=("rankme",), probe="knn") == {"a": 0.2, "b": 0.3}
