"""The bootstrap, one image at a time."""

import random


def paired_over_images(one, other, *, draws, seed):
    """Draw images with replacement, the same for both; give the two-sided p of no difference."""
    chance = random.Random(seed)
    places = range(len(one))
    below = above = 0
    for _ in range(draws):
        drawn = [chance.choice(places) for _ in places]
        apart = sum(one[place] - other[place] for place in drawn)
        below += apart <= 0
        above += apart >= 0
    return min(1.0, 2 * min(below, above) / draws)
