"""The bootstrap by counts is the one that draws every seed and image."""

import random

import pytest
import torch

from counterpoint.study.tables.significance import holm, over_seeds, paired
from reference import bootstrap
from reference import holm as closed

IMAGES, DRAWS = 60, 3_000


def some(accuracies, seed):
    """Right or wrong on every image, for each seed of a cell."""
    generator = torch.Generator().manual_seed(seed)
    chances = torch.rand(len(accuracies), IMAGES, generator=generator)
    return (chances < torch.tensor(accuracies)[:, None]).double()


@pytest.mark.parametrize(
    "mine",
    [[0.5], [0.65], [0.7], [0.6, 0.6, 0.6], [0.5, 0.6, 0.7], [0.45, 0.8]],
)
def test_counts_stand_for_drawn_images(mine):
    one, other = some(mine, 0), some([0.5] * len(mine), 1)
    fast = paired(one, other)
    whole = [side.int().tolist() for side in (one, other)]
    slow = bootstrap.paired(*whole, draws=DRAWS, seed=2)
    # Twice a share of draws: four standard errors. The fast one draws its seeds 1,000 times.
    error = 2 * (slow / 2 * (1 - slow / 2) * (1 / DRAWS + 1 / 1_000)) ** 0.5
    assert abs(fast - slow) <= 4 * error + 2e-3


def test_seeds_that_disagree_are_less_sure():
    """Every image is right in two of three seeds, either way: only the seeds tell them apart."""
    third = torch.arange(IMAGES) % 3
    alike = torch.stack([(third != wrong).double() for wrong in range(3)])
    apart = torch.stack([torch.ones(IMAGES), torch.ones(IMAGES), torch.zeros(IMAGES)]).double()
    half = (torch.arange(IMAGES) % 2).double().expand(3, -1)
    assert paired(alike, half) < 0.05
    assert paired(apart, half) > 0.3


def test_an_advantage_of_all_seeds_counts_and_a_mixed_one_does_not():
    assert over_seeds([0.9, 0.91, 0.92], [0.8, 0.81, 0.82]) < 0.01
    assert over_seeds([0.9, 0.8, 0.7], [0.85, 0.75, 0.8]) > 0.3


def test_holm_is_the_closed_test_of_all_subsets():
    chance = random.Random(3)
    for count in range(1, 8):
        some = [round(chance.random() ** 3, 2) for _ in range(count)]  # two digits: some are equal
        assert holm(some) == pytest.approx(closed.holm(some))


def test_one_comparison_is_not_corrected_and_none_is_nothing():
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
