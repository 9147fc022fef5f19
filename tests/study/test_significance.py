"""The p of a difference is that of the loops, and Holm's correction that of all subsets."""

import random

import pytest
import torch
from scipy import stats

from counterpoint.study.tables.significance import holm, over_seeds, paired
from counterpoint.study.tables.student_tail import student_tails
from reference import holm as closed
from reference import student

IMAGES = 60


def some(accuracies, seed):
    """Right or wrong on every image, for each seed of a cell."""
    generator = torch.Generator().manual_seed(seed)
    chances = torch.rand(len(accuracies), IMAGES, generator=generator)
    return (chances < torch.tensor(accuracies)[:, None]).double()


@pytest.mark.parametrize("df", [1, 1.37, 2, 4.5, 8, 31, 4_999, 123_456.7])
@pytest.mark.parametrize("t", [1e-5, 0.01, 0.7, -1.96, 3.3, 12.7, 60.0])
def test_the_tails_are_those_of_scipy(t, df):
    assert student_tails(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-10)


@pytest.mark.parametrize("df", [2, 3.4, 9, 200])
@pytest.mark.parametrize("t", [0.3, 2.0, -5.0])
def test_the_tails_are_shares_of_an_area(t, df):
    assert student_tails(t, df) == pytest.approx(student.tails(t, df), rel=1e-7)


def test_the_ends_of_the_tails():
    assert student_tails(0.0, 4.2) == 1.0
    assert student_tails(float("inf"), 4.2) == 0.0
    assert 0 < student_tails(1e8, 5) < 1e-35


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([0.5], [0.5]),
        ([0.65], [0.5]),
        ([0.6, 0.6, 0.6], [0.5, 0.5, 0.5]),
        ([0.5, 0.6, 0.7], [0.55, 0.5]),
        ([0.45, 0.8], [0.5]),
    ],
)
def test_paired_is_that_of_the_loops(mine, theirs):
    one, other = some(mine, 0), some(theirs, 1)
    slow = student.paired(one.tolist(), other.tolist())
    assert paired(one, other) == pytest.approx(slow, rel=1e-7)
    assert paired(other, one) == paired(one, other)


def test_with_one_seed_each_it_is_the_paired_t_test_of_scipy():
    one, other = some([0.65], 0), some([0.5], 1)
    assert paired(one, other) == pytest.approx(stats.ttest_rel(one[0], other[0]).pvalue, rel=1e-10)


def test_over_seeds_is_that_of_the_loops_and_welchs_of_scipy():
    one, other = [0.9, 0.8, 0.7], [0.85, 0.75, 0.6, 0.52]
    assert over_seeds(one, other) == pytest.approx(student.over_seeds(one, other), rel=1e-7)
    welch = stats.ttest_ind(one, other, equal_var=False).pvalue
    assert over_seeds(one, other) == pytest.approx(welch, rel=1e-10)


def test_seeds_that_disagree_are_less_sure():
    """Every image is right in two of three seeds, either way: only the seeds tell them apart."""
    third = torch.arange(IMAGES) % 3
    alike = torch.stack([(third != wrong).double() for wrong in range(3)])
    apart = torch.stack([torch.ones(IMAGES), torch.ones(IMAGES), torch.zeros(IMAGES)]).double()
    half = (torch.arange(IMAGES) % 2).double().expand(3, -1)
    assert paired(alike, half) < 0.05
    assert paired(apart, half) > 0.3


def test_where_nothing_varies():
    right = torch.ones(2, IMAGES)
    assert paired(right, right) == 1.0
    assert paired(right, 1 - right) == 2.0 ** (1 - IMAGES)
    assert paired(right[:, :1], 1 - right[:, :1]) == 1.0
    assert over_seeds([0.5, 0.5], [0.6, 0.6]) is None
    assert over_seeds([0.5, 0.5], [0.6, 0.61]) is not None


def test_no_p_is_zero():
    """They were where a difference is on every image, and where the tail is below all doubles."""
    right = torch.ones(3, 5_000)
    thirds = torch.tensor([[1.0], [0.0], [0.0]]).expand(3, 5_000).clone()
    assert 0 < paired(right, 1 - right) < 1e-300
    assert 0 < paired(right, thirds) < 1
    few = right.clone()
    few[:, 0] = 0.0
    assert 0 < paired(few, 1 - right) < 1e-300
    many = [0.5 + 1e-9 * (n % 2) for n in range(200)]
    assert 0 < over_seeds(many, [0.9] * 200) < 1e-300


def test_seeds_that_differ_by_rounding_do_not_differ():
    """Each image is right in one seed of three, and each seed on a third of the images."""
    thirds = torch.stack([(torch.arange(IMAGES) % 3 == seed).double() for seed in range(3)])
    assert paired(thirds, torch.zeros(3, IMAGES)) == 2.0 ** (1 - IMAGES)
    assert over_seeds([0.3, 0.1 + 0.2], [0.5, 0.5]) is None


def test_holm_is_the_closed_test_of_all_subsets():
    chance = random.Random(3)
    for count in range(1, 8):
        some = [round(chance.random() ** 3, 2) for _ in range(count)]  # two digits: some are equal
        assert holm(some) == pytest.approx(closed.holm(some))


def test_one_comparison_is_not_corrected_and_none_is_nothing():
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
