"""The bootstrap by counts is the one that draws every image."""

import pytest
import torch

from counterpoint.study.significance import over_seeds, paired_over_images
from reference import bootstrap

IMAGES, DRAWS = 120, 4_000


def some(accuracy, seeds, seed):
    """Right or wrong on every image, averaged over seeds."""
    generator = torch.Generator().manual_seed(seed)
    right = torch.rand(seeds, IMAGES, generator=generator, dtype=torch.float64) < accuracy
    return right.to(torch.int64).sum(dim=0)  # whole numbers: no rounding decides what is nought


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("accuracy", [0.5, 0.55, 0.6, 0.65])
def test_counts_stand_for_drawn_images(accuracy, seeds):
    one, other = some(accuracy, seeds, 0), some(0.5, seeds, 1)
    fast = paired_over_images(one.float(), other.float())
    slow = bootstrap.paired_over_images(one.tolist(), other.tolist(), draws=DRAWS, seed=2)
    # Twice a share: its standard error over both counts of draws, four times.
    spread = 2 * (slow / 2 * (1 - slow / 2) * (1 / DRAWS + 1 / 10_000)) ** 0.5
    assert abs(fast - slow) <= 4 * spread + 2e-3


def test_an_advantage_of_all_seeds_counts_and_a_mixed_one_does_not():
    assert over_seeds([0.9, 0.91, 0.92], [0.8, 0.81, 0.82]) < 0.01
    assert over_seeds([0.9, 0.8, 0.7], [0.85, 0.75, 0.8]) > 0.3
