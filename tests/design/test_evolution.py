"""Rounds are a function of the seed and of what was found; nothing is proposed twice."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from counterpoint import NarrowResNet
from counterpoint.design.choices import CHOICES
from counterpoint.design.evolution import Judged, next_round, ranked
from counterpoint.design.judging import LOST
from counterpoint.design.population import known
from counterpoint.design.variation import with_next_rates
from counterpoint.study.trial import pairs


@pytest.fixture(scope="module")
def pool():
    return known(32, NarrowResNet(widths=(8, 16), blocks=(1, 1)))


def anything(_candidate):
    return None


def history_of(pool, best=2):
    return [Judged(one, 2 if n == best else 0, n / len(pool)) for n, one in enumerate(pool)]


def test_the_first_round_is_the_known_methods_and_changes_to_them(pool):
    made = next_round(0, 0, [], pool, anything, size=len(pool) + 5)
    assert made.candidates[: len(pool)] == tuple(pool)
    names = {one.fingerprint for one in pool}
    rest = made.candidates[len(pool) :]
    assert len(rest) == 5
    assert all(len(one.parents) == 1 and set(one.parents) <= names for one in rest)
    assert len(next_round(0, 0, [], pool, anything, size=3).candidates) == len(pool)


def test_a_round_repeats_and_another_seed_or_number_is_another_round(pool):
    rounds = [
        next_round(seed, number, history_of(pool), pool, anything, size=6)
        for seed, number in ((0, 1), (0, 1), (1, 1), (0, 2))
    ]
    assert rounds[0] == rounds[1]
    assert len({tuple(c.fingerprint for c in one.candidates) for one in rounds}) == 3


def test_nothing_is_proposed_twice(pool):
    seen = {one.fingerprint for one in pool}
    for number in range(1, 4):
        made = next_round(0, number, history_of(pool), pool, anything, size=20, seen=seen)
        names = [one.fingerprint for one in made.candidates]
        assert len(names) == 20
        assert not seen.intersection(names)
        seen.update(names)
    assert len(seen) == len(pool) + 60


def test_the_best_have_the_most_children(pool):
    history = [Judged(one, 2, 1 - n / len(pool)) for n, one in enumerate(pool)]
    made = next_round(0, 1, history, pool, anything, size=60)
    places = {one.fingerprint: n for n, one in enumerate(pool)}
    parents = [places[name] for one in made.candidates for name in one.parents]
    upper = sum(place < len(pool) / 2 for place in parents) / len(parents)
    assert upper > 0.75  # 1 - 1/2^3 of the winners of three, in the mean
    kinds = Counter(_kind(one) for one in made.candidates)
    for kind, share in (("mutated", 0.4), ("parts", 0.2), ("settings", 0.4)):
        assert abs(kinds[kind] / 60 - share) < 0.2  # three standard errors


def _kind(child):
    if len(child.parents) == 1:
        return "mutated"
    return "settings" if child.change.startswith("of ") else "parts"


def test_every_round_tries_the_best_with_the_next_rates_once(pool):
    history = history_of(pool)
    best = ranked(history)[0].candidate
    made = next_round(0, 1, history, pool, anything, size=6)
    assert [dict(one.training)["lr"] for one in made.candidates[:2]] == [0.005, 0.002]
    assert {one.parents for one in made.candidates[:2]} == {(best.fingerprint,)}
    seen = {one.fingerprint for one in made.candidates}
    again = next_round(0, 2, history, pool, anything, size=6, seen=seen)
    assert not seen & {one.fingerprint for one in again.candidates}
    faster = Judged(made.candidates[0], 2, 1.0)
    then = next_round(0, 2, [*history, faster], pool, anything, size=6, seen=seen)
    assert dict(then.candidates[0].training)["lr"] == 0.01


def test_the_highest_and_the_lowest_rate_have_one_neighbour(pool):
    rates = CHOICES["Training", "lr"]
    for rate, other in ((max(rates), 2e-2), (min(rates), 1e-3)):
        one = replace(pool[0], training=pairs(dict(pool[0].training) | {"lr": rate}))
        assert [dict(child.training)["lr"] for child in with_next_rates(one)] == [other]


def test_a_later_round_has_no_more_candidates_than_asked(pool):
    made = next_round(0, 1, history_of(pool), pool, anything, size=1)
    assert len(made.candidates) == 1


def test_losers_have_no_children(pool):
    history = [Judged(one, 0, 0.5 if n == 4 else LOST) for n, one in enumerate(pool)]
    made = next_round(0, 1, history, pool, anything, size=10)
    assert {name for one in made.candidates for name in one.parents} == {pool[4].fingerprint}


def test_rung_comes_before_standing(pool):
    low, high = Judged(pool[0], 0, 1.0), Judged(pool[1], 1, 0.0)
    assert ranked([low, high, Judged(pool[2], 2, LOST)]) == [high, low]


def test_what_is_refused_is_kept_with_the_words_and_replaced(pool):
    chance = Random(0)

    def some(_candidate):
        return "cost: too much" if chance.random() < 0.5 else None

    made = next_round(0, 1, history_of(pool), pool, some, size=10)
    assert len(made.candidates) == 10
    assert made.refused
    assert {words for _, words in made.refused} == {"cost: too much"}


def test_a_search_where_all_is_refused_ends(pool):
    made = next_round(0, 1, history_of(pool), pool, lambda _: "no", size=2)
    assert made.candidates == ()
    assert made.refused


def test_a_random_search_takes_no_heed_of_what_was_found(pool):
    asked = {"size": 5, "strategy": "random"}
    found = next_round(0, 1, history_of(pool), pool, anything, **asked)
    assert found == next_round(0, 1, [], pool, anything, **asked)
    first = next_round(0, 0, [], pool, anything, **asked)
    assert len(first.candidates) == 5
    assert not {*first.candidates} & {*pool}
