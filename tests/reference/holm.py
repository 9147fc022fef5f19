"""Holm's correction as a closed test: every subset of the comparisons, each by Bonferroni."""

from itertools import combinations


def holm(chances):
    """Give the largest p of all subsets that a comparison is in: all of them have to fail."""
    found = []
    for own in range(len(chances)):
        largest = 0.0
        for size in range(1, len(chances) + 1):
            for subset in combinations(range(len(chances)), size):
                if own in subset:
                    least = min(chances[place] for place in subset)
                    largest = max(largest, min(1.0, size * least))
        found.append(largest)
    return found
