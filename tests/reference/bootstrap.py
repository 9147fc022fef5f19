"""The bootstrap, one seed and one image at a time."""

import random


def paired(one, other, *, draws, seed):
    """Draw the seeds of each cell, and images for both; give the two-sided p of no difference."""
    chance = random.Random(seed)
    places = range(len(one[0]))
    below = above = 0
    for _ in range(draws):
        mine = [chance.choice(one) for _ in one]
        theirs = [chance.choice(other) for _ in other]
        drawn = [chance.choice(places) for _ in places]
        apart = sum(right[place] for right in mine for place in drawn) * len(other)
        apart -= sum(right[place] for right in theirs for place in drawn) * len(one)
        below += apart <= 0
        above += apart >= 0
    return min(1.0, 2 * min(below, above) / draws)
