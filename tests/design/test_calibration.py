"""What criteria are worth, against loops, scipy and orders that are known."""

import math
import random
from dataclasses import replace
from itertools import count

import pytest
from scipy.stats import spearmanr

from counterpoint.cli import main
from counterpoint.design.calibration_table import calibration_table
from counterpoint.design.criteria_calibration import ALL, calibration, chosen_name
from counterpoint.study import Flops, Images, Outcome
from counterpoint.study.bundle import bundled
from reference import calibration as reference
from study.trials import tiny

NAMES = ("rankme", "lidar")
SHORT = Images(96)


NUMBERS = count()


def found(rank, dimension, accuracy, validation=None, *, budget=SHORT, state="done", method=None):
    """An outcome, of a candidate of its own if no method is named."""
    trial = tiny(budget=budget, criteria=NAMES, probes=("knn",))
    figures = {"rankme": rank, "lidar": dimension, "knn": accuracy, "collapsed": 0.0}
    figures["knn validation"] = accuracy if validation is None else validation
    name = f"method {next(NUMBERS)}" if method is None else method
    return Outcome(
        trial=trial, fingerprint="", figures=figures, state=state, data="same", method=name
    )


def drawn(count, seed, **changes):
    chance = random.Random(seed)
    return [
        found(
            float(chance.randrange(9)), chance.random(), chance.random(), chance.random(), **changes
        )
        for _ in range(count)
    ]


def columns(outcomes, *names):
    return [[one.figures[name] for one in outcomes] for name in names]


@pytest.mark.parametrize("seed", range(10))
def test_correlation_and_regret_equal_the_loops(seed):
    groups = [drawn(9, seed), drawn(14, seed + 100, budget=Flops(1e9))]
    by_name = {one.criterion: one for one in calibration([*groups[0], *groups[1]])}
    assert list(by_name) == [*NAMES, ALL]
    for name in NAMES:
        one = by_name[name]
        pairs = [columns(some, name, "knn") for some in groups]
        assert one.rho == pytest.approx(reference.correlation(pairs), abs=1e-12)
        rows = [columns(some, name, "knn validation", "knn") for some in groups]
        assert one.regret == pytest.approx(reference.regret(rows), abs=1e-12)
        assert (one.trials, one.groups) == (23, 2)


def test_of_one_group_it_is_spearmans():
    some = drawn(30, 3)
    one, *_ = calibration(some)
    assert one.rho == pytest.approx(spearmanr(*columns(some, "rankme", "knn")).statistic, abs=1e-12)
    assert one.low < one.rho < one.high


def test_the_interval_covers_the_truth_of_noise_and_narrows_with_trials():
    covered = 0
    for seed in range(40):
        one, *_ = calibration(drawn(25, 1000 + seed))
        covered += one.low <= 0 <= one.high
    assert covered >= 34  # 38 are expected
    few, many = (calibration(drawn(count, 7))[0] for count in (10, 160))
    assert many.high - many.low < 0.5 * (few.high - few.low)
    assert calibration(drawn(10, 7))[0] == few


def test_trials_of_one_candidate_are_no_more_evidence_than_one_of_them():
    """A candidate on two rungs, with the same order on both: the interval is that of one rung."""
    short = drawn(20, 3)
    trial = replace(short[0].trial, budget=Images(960))
    both = [*short, *(replace(one, trial=trial) for one in short)]
    one, twice = calibration(short)[0], calibration(both)[0]
    assert (one.trials, one.candidates, twice.trials, twice.candidates) == (20, 20, 40, 20)
    assert twice.rho == pytest.approx(one.rho)
    assert (twice.low, twice.high) == pytest.approx((one.low, one.high))
    apart = [*short, *(replace(one, trial=trial, method=one.method + "b") for one in short)]
    other = calibration(apart)[0]
    assert other.high - other.low < 0.85 * (one.high - one.low)


def test_the_mean_rank_that_a_search_chooses_by_has_a_row():
    some = drawn(12, 4)
    *_, mean = calibration(some, chosen=("lidar",))
    assert mean.criterion == ALL
    three = [
        replace(
            one,
            trial=replace(one.trial, criteria=(*NAMES, "alpha")),
            figures={**one.figures, "alpha": 1.0},
        )
        for one in some
    ]
    by_name = {one.criterion: one for one in calibration(three, chosen=NAMES)}
    assert list(by_name) == [*NAMES, "alpha", chosen_name(NAMES), ALL]
    assert replace(by_name[chosen_name(NAMES)], criterion=ALL) == mean


def test_one_criterion_that_chooses_has_its_own_row_alone():
    rows = [one.criterion for one in calibration(drawn(12, 4), chosen=("lidar",))]
    assert rows == [*NAMES, ALL]


def test_longer_trials_do_not_make_a_criterion_look_good():
    """Within a budget it orders backwards; over both together it would seem to agree."""
    short = [found(10.0 + n, 1.0, 0.40 - 0.01 * n) for n in range(5)]
    long = [found(90.0 + n, 1.0, 0.80 - 0.01 * n, budget=Images(960)) for n in range(5)]
    both = [*short, *long]
    assert spearmanr(*columns(both, "rankme", "knn")).statistic > 0.5
    rank, constant, _ = calibration(both)
    assert rank.rho == pytest.approx(-1)
    assert rank.regret == pytest.approx(4)
    assert math.isnan(constant.rho)


def test_random_weights_of_a_method_are_another_candidate_than_the_method():
    """They were drawn together: the interval was that of half as many candidates."""
    trained = [found(10.0 + n, 1.0, 0.01 * n, method=f"m{n}") for n in range(5)]
    random = [
        replace(one, trial=replace(one.trial, kind="random"))
        for one in (found(n / 10, 1.0, 0.05, method=f"m{n}") for n in range(5))
    ]
    apart = [replace(one, method=one.method + "b") for one in random]
    both, wanted = calibration([*trained, *random])[0], calibration([*trained, *apart])[0]
    assert (both.trials, both.candidates) == (10, 10)
    assert both == wanted


def test_a_collapsed_encoder_is_last_and_alpha_is_best_near_one():
    some = [found(math.nan, 1.0, 0.1), found(5.0, 2.0, 0.3), found(9.0, 3.0, 0.5)]
    assert calibration(some)[0].rho == pytest.approx(1)
    alphas = [
        replace(
            one,
            trial=replace(one.trial, criteria=("alpha",)),
            figures={**one.figures, "alpha": alpha},
        )
        for one, alpha in zip(some, (1.9, 0.4, 1.1), strict=True)
    ]
    assert calibration(alphas)[0].rho == pytest.approx(1)


def test_a_trial_that_read_no_test_image_is_judged_by_validation_images():
    whole = [
        replace(one, figures={**one.figures, "knn": one.figures["knn validation"]})
        for one in drawn(12, 5)
    ]
    untested = [
        replace(one, figures={k: v for k, v in one.figures.items() if k != "knn"}) for one in whole
    ]
    assert calibration(untested) == calibration(whole)
    assert calibration(untested)[0].trials == 12


def test_trials_without_labels_or_criteria_and_failed_ones_are_left_out():
    some = drawn(5, 0)
    without = replace(some[0], trial=replace(some[0].trial, probes=()), figures={"rankme": 3.0})
    before = replace(some[0], trial=tiny(), figures={"knn": 0.3, "knn validation": 0.3})
    lost = replace(some[0], state="failed", figures={})
    assert calibration([*some, without, before, lost]) == calibration(some)
    assert calibration([without, before, lost]) == []
    with pytest.raises(ValueError, match=r"criteria=.*and probes="):
        calibration_table([])


def test_the_table_has_a_row_for_each_criterion_and_two_columns_for_each_probe():
    some = [
        replace(
            one,
            trial=replace(one.trial, probes=("knn", "linear")),
            figures={**one.figures, "linear": 0.5, "linear validation": 0.5},
        )
        for one in drawn(6, 2)
    ]
    head, rule, *rows, empty, words = calibration_table(calibration(some)).splitlines()
    assert [line.count("|") for line in (head, rule, *rows)] == [6] * 6
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [*NAMES, ALL, "drawn at random"]
    assert "no order | 0.0" in rows[0]
    assert empty == ""
    assert "6 trials of 6 candidates in 1 group" in words


def test_the_command_prints_it(tmp_path, capsys):
    file = tmp_path / "all.json"
    some = drawn(6, 2)
    file.write_text(bundled((some, [])))
    main(["table", str(file), "--format", "criteria"])
    assert capsys.readouterr().out == calibration_table(calibration(some))
