"""The searches that are kept in the repository, and what docs/design-results.md says of them."""

import json
from dataclasses import replace
from itertools import combinations, count, takewhile
from pathlib import Path
from statistics import fmean, median, stdev

import pytest

from counterpoint.design.calibration_table import calibration_table
from counterpoint.design.confirmation_plan import read_plan
from counterpoint.design.confirmed import confirmed
from counterpoint.design.criteria_calibration import calibration, chosen_name
from counterpoint.design.design_settings import CHOSEN, differing
from counterpoint.design.judging import standing
from counterpoint.design.population import known
from counterpoint.design.search_files import read_round, read_settings
from counterpoint.design.searched import core_hours
from counterpoint.evaluation.criteria import CRITERIA
from counterpoint.methods import method_named
from counterpoint.study.bundle import read_study

DOCS = Path(__file__).parents[2] / "docs"
FIRST, SECOND = DOCS / "design" / "search", DOCS / "design" / "second-search"
THIRD = DOCS / "design" / "third-search"
FOURTH, RANDOM = DOCS / "design" / "fourth-search", DOCS / "design" / "random-search"
FIFTH, SIXTH = DOCS / "design" / "unlabelled-search", DOCS / "design" / "two-criteria-search"
KEPT = (FIRST, SECOND, THIRD, FOURTH, RANDOM, FIFTH, SIXTH)
RIVALS = {"cmc-small": "CMC", "hcl-small": "HCL", "siglip-small": "SigLIP"}
OTHER_RIVALS = {"ricercar-small": "Ricercar", "cmc-small": "CMC", "hcl-small": "HCL"}
"""Those of the third search."""
PAGE = DOCS / "design-results.md"
TUNED = {f"{row}, lr 0.01": f"{name}, rate 0.01" for row, name in RIVALS.items()}
OTHER_TUNED = {
    "ricercar-small, lr 0.02": "Ricercar, rate 0.02",
    "cmc-small, lr 0.02": "CMC, rate 0.02",
    "siglip-small, lr 0.05": "SigLIP, rate 0.05",
}
COLUMNS = [(equal, probe) for equal in ("operations", "images") for probe in ("linear", "knn")]
TRIED = OTHER_RIVALS | {"siglip-small": "SigLIP", "dcl-small": "DCL", "simclr-small": "SimCLR"}
"""Shipped methods that ran with every rate, for the tuned rivals of the third search."""


@pytest.mark.parametrize("study", [FIRST / "outcomes.json", DOCS / "results" / "family.json"])
def test_the_documented_worth_of_criteria_is_what_the_trials_say(study):
    outcomes, _ = read_study(str(study))
    table, _, _ = calibration_table(calibration(outcomes)).partition("\n\n")
    assert table in PAGE.read_text()


def sets_of_trials():
    """The rows of the table that the default criterion rests on, with their trials."""
    methods, _ = read_study(str(DOCS / "results" / "family.json"))
    first, _ = read_study(str(FIRST / "outcomes.json"))
    second, _ = read_study(str(SECOND / "outcomes.json"))
    third, _ = read_study(str(THIRD / "outcomes.json"))
    fourth, _ = read_study(str(FOURTH / "outcomes.json"))
    by_chance, _ = read_study(str(RANDOM / "outcomes.json"))
    found, wide = {"ricercar"}, {"ricercar", "cmc"}
    return {
        "all methods, half an epoch": methods,
        "the same without Ricercar": [one for one in methods if one.trial.row not in found],
        "the same without CMC and Ricercar": [o for o in methods if o.trial.row not in wide],
        "first search, all lengths": first,
        "first search, full length": [one for one in first if one.trial.column == "rung 2"],
        "second search, full length": second,
        "third search, full length": third,
        "fourth search, first 36 trials": fourth[:36],
        "random search, first 36 trials": by_chance[:36],
    }


def test_the_documented_losses_of_a_choice_are_what_the_trials_say():
    text = PAGE.read_text()
    names = ["rotation", "rankme", "lidar", chosen_name(("rankme", "lidar"))]
    for row, trials in sets_of_trials().items():
        rows = calibration(trials, chosen=("rankme", "lidar"))
        lost = {(one.criterion, one.probe): one.regret for one in rows}
        cells = [f"{lost[name, 'linear']:.1f} ({lost[name, 'knn']:.1f})" for name in names]
        luck = {one.probe: one.at_random for one in rows}
        cells.append(f"{luck['linear']:.1f} ({luck['knn']:.1f})")
        assert f"| {row} | {' | '.join(cells)} |" in text


@pytest.mark.parametrize("kept", KEPT)
def test_a_search_can_be_resumed_and_names_no_machine(kept):
    assert read_settings(kept).data == "$COUNTERPOINT_DATA/cifar10"
    *whole, last = takewhile(lambda one: one is not None, (read_round(kept, n) for n in count()))
    names = {candidate.fingerprint for one in whole for candidate in one.candidates}
    outcomes, planned = read_study(str(kept / "outcomes.json"))
    run = {outcome.trial.name for outcome in outcomes}
    assert names <= run <= names | {candidate.fingerprint for candidate in last.candidates}
    assert [trial.fingerprint for _, trial in planned] == [o.fingerprint for o in outcomes]


@pytest.mark.parametrize("kept", KEPT)
def test_the_documented_command_has_the_criteria_of_the_search(kept):
    """The default changed after some of them, and a search resumes with its own only.

    Reports name the criteria that are not today's default.
    """
    lines = PAGE.read_text().splitlines()
    (command,) = [
        line
        for line in lines
        if line.startswith("$ counterpoint design")
        and line.endswith(f"--out docs/design/{kept.name}")
    ]
    criteria = read_settings(kept).criteria
    assert f" --criteria {','.join(criteria)} " in command
    page = (kept / "report.html").read_text()
    assert f" --criteria {','.join(criteria)} " in page or criteria == CHOSEN


@pytest.mark.parametrize(("kept", "earlier"), [(SECOND, FIRST), (THIRD, SECOND)])
def test_a_search_began_with_the_one_before(kept, earlier):
    assert DOCS.parent / str(read_settings(kept).earlier) == earlier


def test_the_documented_figures_of_the_third_search_are_what_the_trials_say():
    outcomes, _ = read_study(str(THIRD / "outcomes.json"))
    text = PAGE.read_text().partition("| third search, validation")[2]
    cells = {}
    for one in outcomes:
        linear, knn = (100 * one.figures[f"{probe} validation"] for probe in ("linear", "knn"))
        cells[one.trial.name] = f"| {linear:.1f} | {knn:.1f} | {one.cost.images:,} |"
    known_there, found = read_plan(SECOND), read_plan(THIRD)
    assert known_there is not None
    assert found is not None
    ricercar = known_there.contenders[0]
    for one in (*found.contenders[:3], ricercar):
        assert cells[one.candidate.fingerprint] in text


@pytest.mark.parametrize(
    ("kept", "parts", "row"),
    [
        (FOURTH, ("seen",), "fourth search, seen while settings were chosen"),
        (RANDOM, ("seen",), "random search, seen while settings were chosen"),
        (FOURTH, ("unseen",), "fourth search, not seen then"),
        (RANDOM, ("unseen",), "random search, not seen then"),
        (FOURTH, ("seen", "unseen"), "fourth search, first 36 trials"),
        (RANDOM, ("seen", "unseen"), "random search, first 36 trials"),
        (THIRD, ("unseen",), "third search, some"),
    ],
)
def test_the_documented_worth_of_the_rotation_probe_in_folds_is_what_the_trials_say(
    kept, parts, row
):
    some = measured_again(kept, parts)
    found = {(one.criterion, one.probe): one for one in calibration(some)}
    cells = []
    for name in ("rotation", "rotation-folds", "rankme", "lidar"):
        linear, knn = found[name, "linear"], found[name, "knn"]
        cells.append(f"{linear.rho:.2f} ({knn.rho:.2f})")
        cells.append(f"{linear.regret:.1f} ({knn.regret:.1f})")
    cells.append(f"{linear.at_random:.1f} ({knn.at_random:.1f})")
    line = f"| {row} | {len(some)} | {' | '.join(cells)} |"
    assert line in PAGE.read_text(), line


def measured_again(kept, parts):
    """Outcomes of candidates that were trained again for the rotation probe in folds."""
    measured = json.loads((DOCS / "results" / "rotation_in_folds.json").read_text())[kept.name]
    folds = {name: value for part in parts for name, value in measured[part].items()}
    outcomes, _ = read_study(str(kept / "outcomes.json"))
    return [
        replace(
            one,
            trial=replace(one.trial, criteria=CRITERIA),
            figures={**one.figures, "rotation-folds": folds[one.trial.name]},
        )
        for one in outcomes
        if one.trial.name in folds
    ]


BOTH, CMC = ("rotation-folds", "rankme"), "cmc-small"


@pytest.mark.parametrize(
    ("kept", "parts", "row"),
    [
        (FOURTH, ("seen", "unseen"), "fourth search, first 36 trials"),
        (RANDOM, ("seen", "unseen"), "random search, first 36 trials"),
        (THIRD, ("unseen",), "third search, some"),
        (FIFTH, None, "fifth search"),
        (SIXTH, None, "sixth search"),
    ],
)
def test_the_documented_worth_of_both_criteria_is_what_the_trials_say(kept, parts, row):
    if parts is None:
        some, _ = read_study(str(kept / "outcomes.json"))
    else:
        some = measured_again(kept, parts)
    found = {one.criterion: one for one in calibration(some, chosen=BOTH) if one.probe == "linear"}
    columns = [found[name] for name in ("rotation-folds", chosen_name(BOTH), "rankme", "lidar")]
    cells = [f"{one.rho:.2f} | {one.regret:.1f}" for one in columns]
    line = f"| {row} | {len(some)} | {' | '.join(cells)} | {columns[0].at_random:.1f} |"
    text = PAGE.read_text().partition("## Searches without labels")[2]
    assert line in text, line


def test_the_documented_choices_without_labels_are_what_the_trials_say():
    text = PAGE.read_text().partition("## Searches without labels")[2]
    for number in (25, 37, 49, 61):
        cells = []
        for kept in (FIFTH, SIXTH):
            tried = read_study(str(kept / "outcomes.json"))[0][:number]
            figures = {one.trial.name: one.figures for one in tried}
            scores = standing(figures, criteria=read_settings(kept).criteria)
            choice = figures[max(scores, key=scores.__getitem__)]
            cells.append(f"{100 * choice['linear validation']:.1f}")
            cells.append(f"{max(map(_linear, tried)):.1f}")
        line = f"| {number} | {' | '.join(cells)} |"
        assert line in text, line


def test_what_is_said_of_the_searches_without_labels_is_what_the_trials_say():
    text = " ".join(PAGE.read_text().split())
    fifth, sixth = (read_study(str(kept / "outcomes.json"))[0] for kept in (FIFTH, SIXTH))
    cmc = [f"{_linear(one):.1f}" for some in (fifth, sixth) for one in some if one.trial.row == CMC]
    assert f"CMC has {' and '.join(cmc)} by the linear probe" in text
    eight = sorted(fifth, key=lambda one: -one.figures["rotation-folds"])[:8]
    first, last = (eight[place].figures["rotation-folds"] for place in (0, -1))
    assert f"{first - last:.3f}" == "0.009"
    assert f"and have {min(map(_linear, eight)):.1f} to {max(map(_linear, eight)):.1f} by" in text
    every = [read_study(str(kept / "outcomes.json"))[0] for kept in KEPT]
    spent = sum(
        core_hours(one, read_settings(kept))
        for kept, some in zip(KEPT, every, strict=True)
        for one in some
    )
    assert f"and {spent:.1f} with the four searches below" in text
    tried = sum(len({one.trial.name for one in some}) for some in every)
    assert f"All seven have {tried} candidates and {sum(map(len, every))} trials." in text


def test_the_rule_that_was_tried_is_the_one_that_the_decision_says():
    """Of the mean ranks of one to three criteria, on the sets of trials that there were then."""
    sets = [
        measured_again(FOURTH, ("seen", "unseen")),
        measured_again(RANDOM, ("seen", "unseen")),
        measured_again(THIRD, ("unseen",)),
        read_study(str(FIFTH / "outcomes.json"))[0],
    ]
    names = ("rotation-folds", "rankme", "lidar", "alpha", "rotation")
    rules = [rule for many in (1, 2, 3) for rule in combinations(names, many)]
    assert len(rules) == 25
    met = {}
    for rule in rules:
        name = chosen_name(rule) if len(rule) > 1 else rule[0]
        rows = [
            one
            for some in sets
            for one in calibration(some, chosen=rule)
            if one.probe == "linear" and one.criterion == name
        ]
        assert len(rows) == 4
        if max(one.regret for one in rows) <= 2:
            met[rule] = fmean(one.rho for one in rows)
    assert len(met) == 6
    decision = (DOCS / "decisions" / "0057-two-criteria-were-tried.md").read_text()
    own, other = met.pop(BOTH), met.pop(("rotation-folds", "alpha"))
    assert f"{own:.2f}; with `alpha` in the place of `rankme` it is {other:.2f}" in decision
    assert f"the other four have {min(met.values()):.2f} to {max(met.values()):.2f}" in decision


def test_a_search_without_labels_differs_from_the_fourth_in_how_it_chooses():
    fourth, fifth, sixth = map(read_settings, (FOURTH, FIFTH, SIXTH))
    assert set(differing(fourth, fifth)) == {"criteria", "labels", "watch"}
    assert set(differing(fifth, sixth)) == {"criteria", "seed"}


def test_the_documented_rates_of_rivals_are_what_the_trials_say():
    outcomes, _ = read_study(str(THIRD / "confirmed.json"))
    text = PAGE.read_text()
    rates = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05)
    assert f"one seed, linear | {' | '.join(f'{rate:g}' for rate in rates)} |" in text
    heats = [one for one in outcomes if one.trial.column == "heat"]
    for row, name in TRIED.items():
        own = [one for one in heats if one.trial.row.partition(", lr")[0] == row]
        found = {one.figures["lr"]: f"{_linear(one):.1f}" for one in own}
        assert f"| {name} | {' | '.join(found[rate] for rate in rates)} |" in text


def test_the_random_search_differs_from_the_fourth_in_its_strategy_alone():
    assert differing(read_settings(FOURTH), read_settings(RANDOM)) == ["strategy"]


def test_the_documented_bests_of_the_fourth_and_the_random_search_are_what_the_trials_say():
    text = PAGE.read_text()
    tried = [
        [
            100 * one.figures["linear validation"]
            for one in read_study(str(kept / "outcomes.json"))[0]
        ]
        for kept in (FOURTH, RANDOM)
    ]
    for number in (12, 24, 36, 60):
        bests = " | ".join(f"{max(some[:number]):.1f}" for some in tried)
        assert f"| {number} | {bests} |" in text


def test_what_is_said_of_the_draws_and_the_children_is_what_the_trials_say():
    text = " ".join(PAGE.read_text().partition("## Against luck")[2].split())
    evolved, drawn = (read_study(str(kept / "outcomes.json"))[0] for kept in (FOURTH, RANDOM))
    children = [_linear(one) for one in evolved[24:]]
    *_, third, other, first = sorted(_linear(one) for one in evolved)
    *_, second, best = sorted(_linear(one) for one in drawn)
    middle = median(_linear(one) for one in drawn)
    assert f"({first:.1f} and {best:.1f}; one seed" in text
    assert f"Its next two have {other:.1f} and {third:.1f}. " in text
    assert f"The next best draw has {second:.1f}. The median of all draws is {middle:.1f}, " in text
    assert f"and that of the {len(children)} children {median(children):.1f}." in text
    nearest = max(100 * one.figures["knn validation"] for one in drawn)
    every = [read_study(str(kept / "outcomes.json"))[0] for kept in (FIRST, SECOND, THIRD, FOURTH)]
    before = max(100 * one.figures.get("knn validation", 0.0) for some in every for one in some)
    assert f"**Its {nearest:.1f} by kNN is the highest of any trial" in text
    assert f"({before:.1f} before, in the third search)" in text


def _linear(outcome):
    return 100 * outcome.figures["linear validation"]


@pytest.mark.parametrize(
    ("kept", "later"),
    [
        (FIRST, ("ricercar", "invention")),
        (SECOND, ("ricercar", "invention")),
        (THIRD, ("invention",)),
        (FOURTH, ("ricercar", "invention")),
        (RANDOM, ("ricercar", "invention")),
        (FIFTH, ("ricercar", "invention")),
        (SIXTH, ("ricercar", "invention")),
    ],
)
def test_a_kept_search_does_not_know_what_was_shipped_after_it(kept, later):
    assert read_settings(kept).without == later


@pytest.mark.parametrize(("kept", "name"), [(SECOND, "ricercar-small"), (THIRD, "invention-small")])
def test_a_shipped_method_is_what_a_search_found(kept, name):
    plan = read_plan(kept)
    assert plan is not None
    encoder = method_named("simclr-small", size=32, encoder=read_settings(kept).encoder).encoder
    shipped = {one.change: one.fingerprint for one in known(32, encoder)}
    found = {one.name: one.candidate.fingerprint for one in plan.contenders}
    assert shipped[name] == found["found 1"]


@pytest.mark.parametrize(
    ("kept", "found", "rivals"),
    [
        (FIRST, "first search, ", RIVALS),
        (SECOND, "second search, ", RIVALS),
        (THIRD, "third search, ", {"ricercar-small": "Ricercar"}),
    ],
)
def test_the_documented_confirmation_is_what_the_trials_say(kept, found, rivals):
    outcomes, _ = read_study(str(kept / "confirmed.json"))
    text = PAGE.read_text()
    for row in (*rivals, "found 1", "found 2", "found 3"):
        name = rivals.get(row, f"{found}{row}")
        assert documented(name, row, "cifar10, equal operations", outcomes) in text


def test_the_table_of_what_is_best_is_what_the_trials_say():
    outcomes, _ = read_study(str(THIRD / "confirmed.json"))
    rows = {"found 1": "Invention"} | OTHER_RIVALS | OTHER_TUNED
    means = {row: [_mean(outcomes, row, *column) for column in COLUMNS] for row in rows}
    best = [max(column) for column in zip(*means.values(), strict=True)]
    text = PAGE.read_text().partition("| CIFAR-10 test, 5 seeds")[2].partition("\n\n")[0]
    for row, figures in means.items():
        marks = ["**" if one == top else "" for one, top in zip(figures, best, strict=True)]
        cells = [f"{mark}{one:.1f}{mark}" for one, mark in zip(figures, marks, strict=True)]
        assert f"| {rows[row]} | {' | '.join(cells)} |" in text


def _mean(outcomes, row, equal, probe):
    own = [o for o in outcomes if (o.trial.row, o.trial.column) == (row, f"cifar10, equal {equal}")]
    assert len(own) == 5
    return 100 * fmean(one.figures[probe] for one in own)


@pytest.mark.parametrize(("kept", "tuned"), [(SECOND, TUNED), (THIRD, OTHER_TUNED)])
def test_the_documented_figures_of_tuned_rivals_are_what_the_trials_say(kept, tuned):
    outcomes, _ = read_study(str(kept / "confirmed.json"))
    text = PAGE.read_text()
    for row, name in tuned.items():
        assert documented(name, row, "cifar10, equal operations", outcomes) in text


@pytest.mark.parametrize(
    ("kept", "start", "found", "rivals"),
    [
        (SECOND, "| equal images, test", "second search, ", RIVALS | TUNED),
        (THIRD, "| third search, equal images, test", "third search, ", OTHER_RIVALS | OTHER_TUNED),
    ],
)
def test_the_documented_figures_at_equal_images_are_what_the_trials_say(kept, start, found, rivals):
    outcomes, _ = read_study(str(kept / "confirmed.json"))
    text = PAGE.read_text().partition(start)[2].partition("\n\n")[0]
    for row in (*rivals, "found 1", "found 2", "found 3"):
        name = rivals.get(row, f"{found}{row}")
        assert documented(name, row, "cifar10, equal images", outcomes) in text


@pytest.mark.parametrize(
    ("kept", "names"),
    [
        (SECOND, {"found 1": "second search, found 1"} | RIVALS),
        (THIRD, {"found 1": "third search, found 1"}),
    ],
)
def test_the_documented_figures_on_other_images_are_what_the_trials_say(kept, names):
    outcomes, _ = read_study(str(kept / "confirmed.json"))
    text = PAGE.read_text().partition("| caltech20, equal operations")[2]
    for row, name in names.items():
        assert documented(name, row, "caltech20, equal operations", outcomes) in text


def test_what_is_said_of_invention_against_tuned_rivals_is_what_the_trials_say():
    outcomes, planned = read_study(str(THIRD / "confirmed.json"))
    own = [one for one in outcomes if one.trial.name.startswith("confirm ")]
    trials = [trial for _, trial in planned if trial.name.startswith("confirm ")]
    found = [f"found {place}" for place in (1, 2, 3)]
    compared = {
        (one.rival.partition("-")[0], one.column.rpartition(" ")[2], one.probe): one
        for one in confirmed(own, found=found, planned=trials)
        if one.found == "found 1" and one.rival in OTHER_TUNED
    }
    text = " ".join(PAGE.read_text().partition("### Rivals whose rate was chosen")[2].split())
    one = compared["ricercar", "operations", "linear"]
    assert f"Its lead over tuned Ricercar is {one.points:.1f} points" in text
    assert f"(p {one.p:.1g} before the correction, {one.corrected:.2g} after it)" in text
    linear = {key: compared[key, "operations", "linear"] for key in ("cmc", "siglip")}
    assert max(one.corrected for one in linear.values()) < 0.00001
    ahead = [f"{one.points:.1f}" for one in linear.values()]
    assert f"by {' and '.join(ahead)} points (p below 0.00001" in text
    knn = {key: compared[key, "operations", "knn"] for key in ("ricercar", "cmc", "siglip")}
    assert f"{-knn['ricercar'].points:.1f} points ahead of Invention (p 0.005)" in text
    assert f"{knn['ricercar'].corrected:.1g}" == "0.005"
    assert f"Invention is {knn['cmc'].points:.1f} points ahead of tuned CMC" in text
    assert knn["cmc"].corrected < 0.00001
    assert knn["siglip"].corrected > 0.05
    few = {key: compared[key, "images", "linear"] for key in ("ricercar", "siglip", "cmc")}
    said = [f"{one.points:.1f}" for one in few.values()]
    chances = [f"{one.corrected:.2g}" for one in few.values()]
    assert chances == ["0.29", "0.059", "1"]
    assert f"{said[0]} points ahead of Ricercar (p 0.29), {said[1]} of SigLIP (p 0.06)" in text
    assert f"and {said[2]} of CMC (p 1)" in text


def documented(name, row, column, outcomes):
    """Return the row of a table that five seeds have."""
    own = [o for o in outcomes if (o.trial.row, o.trial.column) == (row, column)]
    assert len(own) == 5
    linear, knn = (
        f"{100 * fmean(values):.1f} ± {100 * stdev(values):.1f}"
        for values in ([o.figures[probe] for o in own] for probe in ("linear", "knn"))
    )
    return f"| {name} | {linear} | {knn} | {own[0].cost.images:,} |"
