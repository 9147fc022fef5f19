"""Importance of parts against loops, and against what chance gives."""

import random
from statistics import fmean

import pytest

from counterpoint.design.importance import (
    Importance,
    explained_share,
    part_importance,
    shuffled_share,
)
from counterpoint.methods import byol_small, moco_small, simclr_small
from counterpoint.parts.losses import NCE, Triplet
from reference import importance as loops

KINDS = ["a", "b", "a", "c", "b", "a", "c"]
VALUES = [0.9, 0.2, 0.7, 0.4, 0.35, 0.8, 0.1]


def test_the_share_is_that_of_the_loops():
    chance = random.Random(1)
    for _ in range(20):
        values = [chance.random() for _ in KINDS]
        assert explained_share(KINDS, values) == pytest.approx(loops.eta_squared(KINDS, values))


def test_chance_is_the_mean_over_every_order():
    """The closed form of the mean stands for 5,040 orders of seven values."""
    mean, p = loops.over_all_orders(KINDS, VALUES)
    share = explained_share(KINDS, VALUES)
    found = Importance(part="loss", kinds=3, candidates=7, share=share, p=p)
    assert found.chance == pytest.approx(mean)
    drawn = shuffled_share(KINDS, VALUES, draws=4_000)
    assert drawn == pytest.approx(p, abs=4 * (p * (1 - p) / 4_000) ** 0.5 + 1 / 4_000)


def test_many_kinds_explain_much_and_nothing_beyond_chance():
    """With a kind for every two candidates half is explained; none of it is more than chance."""
    chance, kinds, found = random.Random(0), [str(n % 30) for n in range(60)], []
    for _ in range(50):
        share = explained_share(kinds, [chance.random() for _ in kinds])
        found.append(Importance(part="views", kinds=30, candidates=60, share=share, p=1.0))
    assert fmean(one.share for one in found) == pytest.approx(29 / 59, abs=0.05)
    assert fmean(one.beyond for one in found) == pytest.approx(0.0, abs=0.1)


def test_a_kind_for_every_candidate_says_nothing():
    found = Importance(part="views", kinds=5, candidates=5, share=1.0, p=1.0)
    assert found.beyond == 0.0


def test_the_part_that_decides_is_first_and_numbers_make_no_kind():
    methods, standing = [], []
    for place, make in enumerate((simclr_small, moco_small, byol_small)):
        for loss, worth in ((NCE(), 1.0), (Triplet(margin=0.5), 0.0), (Triplet(margin=1.0), 0.05)):
            methods.append(make().swap(loss=loss))
            standing.append(worth + 0.01 * place)
    found = {
        one.part: one for one in part_importance(methods, standing, independent=True, draws=200)
    }
    assert found["loss"].kinds == 2  # both margins are one kind
    assert found["loss"].beyond > 0.6
    assert found["loss"].p < 0.05
    others = [one for part, one in found.items() if part != "loss"]
    assert max(one.beyond for one in others) < 0.1


def test_candidates_without_a_standing_are_left_out():
    methods = [simclr_small(), moco_small(), byol_small()]
    found = part_importance(methods, [0.3, float("nan"), 0.6], independent=True, draws=10)
    assert {one.candidates for one in found} == {2}
    with pytest.raises(ValueError, match="needs two"):
        part_importance(methods, [0.3, float("nan"), float("nan")], independent=True)


def test_how_far_below_a_collapse_is_does_not_matter():
    methods = [simclr_small(), moco_small(), byol_small(), simclr_small().swap(loss=Triplet())]
    near = part_importance(methods, [0.3, 0.5, 0.6, 0.2], independent=True, draws=10)
    assert part_importance(methods, [0.3, 0.5, 0.6, -9.0], independent=True, draws=10) == near
