"""Points that a part decides: one part changed, all else the same."""

from dataclasses import replace

import pytest

from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.part_effects import decided, written
from study.trials import outcome


def changed(row, seed, accuracy, *parts, method="amdim-small"):
    made = outcome(row, "AMDIM", seed, accuracy)
    swaps = tuple((part, row) for part in parts)
    return replace(made, trial=replace(made.trial, swaps=swaps, method=method))


CHANGED = [
    changed("as it is", 0, 0.50),
    changed("as it is", 1, 0.52),
    changed("flips", 0, 0.49, "views"),
    changed("flips", 1, 0.49, "views"),
    changed("cosine", 0, 0.55, "similarity"),
    changed("cosine", 1, 0.57, "similarity"),
    changed("similarity: bilinear", 0, 0.40, "similarity"),
    changed("similarity: bilinear", 1, 0.46, "similarity"),
    changed("both", 0, 0.90, "views", "similarity"),
    changed("another method as it is", 0, 0.95, method="cmc-small"),
]


def test_points_are_from_the_worst_to_the_best_of_one_part_alone():
    found = decided(tabulate(CHANGED), [o.trial for o in CHANGED])
    most, least = found
    assert (most.worst[0], most.best[0]) == ("similarity: bilinear", "cosine")
    assert most.points == pytest.approx(13.0)
    assert most.spread == pytest.approx(4 / 2**0.5)  # 15 and 11 points
    assert (least.part, least.worst[0], least.best[0]) == ("views", "flips", "as it is")
    assert "| similarity | AMDIM | 43.0, bilinear | 56.0, cosine | 13.0 ± 2.8 |\n" in written(found)


def test_points_are_of_the_seeds_that_both_have():
    """A row without its bad seed was ahead of what is better on the seeds of both."""
    some = [
        *(changed("as it is", seed, good) for seed, good in enumerate((0.70, 0.40, 0.42))),
        *(changed("cosine", seed, good, "similarity") for seed, good in ((1, 0.44), (2, 0.48))),
    ]
    (found,) = decided(tabulate(some), [one.trial for one in some])
    assert (found.worst[0], found.best[0]) == ("as it is", "cosine")
    assert found.points == pytest.approx(5.0)
    assert found.spread == pytest.approx(2**0.5)  # 4 and 6 points
    said = written([found]).splitlines()[2]
    assert said.endswith("| 41.0, as it is | 46.0, cosine | 5.0 ± 1.4 (2 of 3 seeds) |")
    apart = [some[0], *some[3:]]
    with pytest.raises(ValueError, match="no two finished rows with a common seed"):
        decided(tabulate(apart), [one.trial for one in apart])


def test_points_of_a_study_that_changes_no_part_are_refused():
    with pytest.raises(ValueError, match="differ in one part alone"):
        decided(tabulate(CHANGED[:2]), [o.trial for o in CHANGED[:2]])
