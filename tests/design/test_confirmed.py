"""A table of comparisons: who is ahead, by how much, and whether that may be chance."""

from dataclasses import replace

import pytest

from counterpoint.design.confirmed import confirmed, confirmed_markdown
from counterpoint.study.tables.outcome_table import chance_of_difference
from design.confirmations import outcome
from reference import holm as closed

SEEDS = range(1, 6)


def cells(row, accuracy, **more):
    return [outcome(row, s, linear=accuracy + 0.005 * (s % 3), **more) for s in SEEDS]


def test_a_clear_lead_is_a_lead_and_a_small_one_is_not():
    trials = [*cells("found 1", 0.6), *cells("found 2", 0.51), *cells("simclr-small", 0.5)]
    one, two = confirmed(trials, found=["found 1", "found 2"])
    assert (one.found, one.rival, one.probe, one.seeds) == (
        "found 1",
        "simclr-small",
        "linear",
        (5, 5),
    )
    assert one.points == pytest.approx(10.0, abs=0.01)
    assert one.corrected < 0.05 < two.corrected
    assert one.p < 0.0002  # less than a bootstrap of 10,000 draws can tell from 0


def test_the_correction_is_over_all_columns_probes_and_rivals():
    rows = {"found 1": 0.53, "simclr-small": 0.5, "best of a random search": 0.51}
    trials = [
        outcome(row, seed, column=column, linear=good + 0.01 * (seed % 2), knn=good - 0.05)
        for row, good in rows.items()
        for column in ("photos, equal operations", "photos, equal images")
        for seed in SEEDS
    ]
    table = confirmed(trials, found=["found 1"])
    assert len(table) == 2 * 2 * 2
    assert len({(one.column, one.probe, one.rival) for one in table}) == 8
    assert [one.corrected for one in table] == pytest.approx(closed.holm([one.p for one in table]))


def test_the_chance_is_that_of_the_tables_of_studies():
    mine, theirs = cells("found 1", 0.53), cells("simclr-small", 0.5)
    (one,) = confirmed([*mine, *theirs], found=["found 1"])
    assert one.p == chance_of_difference(mine, theirs, "linear")
    assert one.corrected == one.p


def test_without_all_seeds_there_is_no_p_and_the_table_says_so():
    failed = [replace(o, state="failed", figures={}, right={}) for o in cells("simclr-small", 0.5)]
    assert confirmed([*cells("found 1", 0.6), *failed], found=["found 1"]) == []
    some = [*cells("found 1", 0.6), *failed[:2], *cells("simclr-small", 0.5)[2:]]
    (one,) = table = confirmed(some, found=["found 1"])
    assert (one.seeds, one.planned, one.p, one.corrected) == ((5, 3), 5, None, None)
    assert "| 5 and 3 of 5 |" in confirmed_markdown(table)


def test_what_has_not_run_yet_is_counted_by_the_correction():
    mine, first, second = cells("found 1", 0.53), cells("a", 0.5), cells("b", 0.5)
    planned = [o.trial for o in (*mine, *first, *second)]
    (one,) = confirmed([*mine, *first], found=["found 1"], planned=planned)
    assert one.corrected == min(1.0, 2 * one.p)


def test_two_folders_of_one_name_are_two_columns():
    mine, theirs = cells("found 1", 0.6), cells("simclr-small", 0.5)
    moved = [replace(o, trial=replace(o.trial, data="b/photos")) for o in theirs]
    assert confirmed([*mine, *moved], found=["found 1"]) == []


def test_one_seed_each_says_nothing_about_another_training():
    mine, theirs = cells("found 1", 0.6)[:1], cells("simclr-small", 0.5)[:1]
    (one,) = confirmed([*mine, *theirs], found=["found 1"])
    assert (one.seeds, one.p, one.corrected) == ((1, 1), None, None)


def test_the_table_in_markdown_has_points_with_their_sign():
    table = confirmed([*cells("found 1", 0.45), *cells("simclr-small", 0.5)], found=["found 1"])
    *_, row = confirmed_markdown(table).splitlines()
    assert row.startswith("| photos, equal operations | linear | found 1 | simclr-small | 45.6 ± ")
    assert "| -5.0 |" in row
