"""Tables of docs/results.md and docs/design-results.md are those of the result files."""

import json
import statistics
from pathlib import Path

import pytest

from counterpoint.study.bundle import read_study
from counterpoint.study.load import trials_of
from counterpoint.study.tables.figure import table_figure
from counterpoint.study.tables.formats import markdown
from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.part_effects import decided, written
from counterpoint.study.trial import Trial

DOCS = Path(__file__).parents[2] / "docs"
STUDIES = ("table1", "table2", "table3", "longer", "parts")


@pytest.mark.parametrize("name", STUDIES)
def test_the_documented_table_is_what_its_results_say(name):
    outcomes, planned = read_study(str(DOCS / "results" / f"{name}.json"))
    table = tabulate(outcomes, planned=planned)
    assert markdown(table).partition("\n\n")[0] in (DOCS / "results.md").read_text()
    assert table_figure(table) == (DOCS / "results" / f"{name}.svg").read_text()


def test_the_documented_points_are_what_the_results_say():
    outcomes, planned = read_study(str(DOCS / "results" / "parts.json"))
    found = decided(tabulate(outcomes, planned=planned), [trial for _, trial in planned])
    assert written(found) in (DOCS / "results.md").read_text()


def test_the_longer_study_is_the_one_that_was_run():
    _, planned = read_study(str(DOCS / "results" / "longer.json"))
    study = trials_of(str(DOCS / "results" / "longer.py"), "small")
    assert [(t.row, t.seed, t.budget) for t in study] == [
        (t.row, t.seed, t.budget) for _, t in planned
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_results_name_no_machine(name):
    outcomes, planned = read_study(str(DOCS / "results" / f"{name}.json"))
    for trial in (*(o.trial for o in outcomes), *(t for _, t in planned)):
        assert isinstance(trial, Trial)
        assert trial.data.startswith("$COUNTERPOINT_DATA")
        assert not (trial.parts or "").startswith("/")


SIDES = ("lightly", "lightly, our optimiser", "ours, views of 32", "ours, views of 20")


@pytest.mark.parametrize("method", ["SimCLR", "BYOL"])
def test_the_documented_speed_against_lightly_is_what_was_measured(method):
    found = json.loads((DOCS / "results" / "bench-peers.json").read_text())["figures"]
    of = {key.removeprefix(f"{method.lower()}, "): value for key, value in found.items()}
    cells = [f"{of[f'{s}: images/s']:.1f} ({of[f'{s}: peak MB with workers']:,.0f})" for s in SIDES]
    cells.append(f"{of['encoder alone, 32: images/s']:.1f}")
    assert f"| {method} | {' | '.join(cells)} |" in (DOCS / "results.md").read_text()


@pytest.mark.parametrize("method", ["SimCLR", "BYOL"])
def test_the_documented_accuracy_against_lightly_is_what_was_measured(method):
    found = json.loads((DOCS / "results" / "bench-peers-accuracy.json").read_text())["figures"]
    probed = {side: f"{method.lower()}, {side}: linear" for side in SIDES}
    best = max(SIDES, key=lambda side: found[f"{probed[side]}, mean"])
    cells = []
    for side, key in probed.items():
        mean = f"{100 * found[f'{key}, mean']:.1f}"
        spread = f"{100 * found[f'{key}, spread']:.1f}"
        cells.append(f"{f'**{mean}**' if side == best else mean} ± {spread}")
    assert f"| {method} | {' | '.join(cells)} |" in (DOCS / "results.md").read_text()


def test_the_documented_trials_by_hand_are_what_was_measured():
    outcomes, _ = read_study(str(DOCS / "results" / "by_hand.json"))
    text = (DOCS / "design-results.md").read_text()
    for one in outcomes:
        cells = [f"{100 * one.figures[f'{probe} validation']:.1f}" for probe in ("linear", "knn")]
        assert f"| {one.trial.row} | {one.trial.column} | {' | '.join(cells)} |" in text


def test_the_documented_products_for_small_maps_are_what_was_measured():
    found = json.loads((DOCS / "results" / "bench-small-maps.json").read_text())["figures"]
    text = (DOCS / "measurements.md").read_text()
    steps = {
        "simclr-small": "`simclr-small`, batches of 256",
        "simclr-small, crops of 16": "the same, crops of 16 pixels",
        "ResNet-18": "SimCLR, ResNet-18, 32 pixels, batches of 64",
    }
    for case, row in steps.items():
        speeds = [found[f"{case}: images/s, {side}"] for side in ("torch's gradient", "ours")]
        ratio = found[f"{case}: time of ours, of torch's"]
        assert f"| {row} | {speeds[0]:,.0f} | {speeds[1]:,.0f} | {ratio:.2f} |" in text
    end = ": time of the product, of torch's"
    layers = [key.removesuffix(end) for key in found if key.endswith(end)]
    assert len(layers) == 15
    for layer in layers:
        maps, rest = layer.split(" to ")
        out, places = (words.split()[0] for words in rest.split(", "))
        assert f"| {maps} | {out} | {places} | {found[layer + end]:.2f} |" in text


def test_the_documented_half_hour_is_what_was_measured():
    outcomes, _ = read_study(str(DOCS / "results" / "thirty_minutes.json"))
    text = (DOCS / "results.md").read_text()
    for row in {outcome.trial.row for outcome in outcomes}:
        some = [outcome for outcome in outcomes if outcome.trial.row == row]
        cells = []
        for probe in ("knn", "linear", "mlp"):
            values = [outcome.figures[probe] for outcome in some]
            spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
            cells.append(f"{statistics.fmean(values):.3f}{spread}")
        images = statistics.fmean(outcome.cost.images for outcome in some)
        assert f"| {row} | {' | '.join(cells)} | {images:,.0f} | {len(some)} |" in text


def test_the_settings_of_the_half_hour_are_those_that_validation_images_chose():
    outcomes, _ = read_study(str(DOCS / "results" / "thirty_minutes_settings.json"))
    found = {(o.trial.row, o.trial.column): o.figures["knn validation"] for o in outcomes}
    text = (DOCS / "results.md").read_text()
    for side in ("20 pixels", "16 pixels"):
        low, high = (found[side, f"rate {rate}"] for rate in ("0.003", "0.01"))
        assert f"| {side} | {low:.3f} | {high:.3f} |" in text
    assert max(found, key=found.__getitem__) == ("16 pixels", "rate 0.01")
    trained = trials_of(str(DOCS / "results" / "thirty_minutes.py"), "small")[0]
    assert dict(trained.training) == {"lr": 0.01}
    assert '"size":16' in dict(trained.swaps)["views"]


def test_the_documented_parts_of_invention_are_what_was_measured():
    outcomes, _ = read_study(str(DOCS / "results" / "invention_parts.json"))
    text = (DOCS / "design-results.md").read_text().partition("**What helps in it.**")[2]
    assert len({outcome.trial.row for outcome in outcomes}) == len(outcomes) == 12  # one seed
    for one in outcomes:
        cells = [f"{100 * one.figures[f'{probe} validation']:.1f}" for probe in ("linear", "knn")]
        assert f"| {one.trial.row} | {' | '.join(cells)} | {one.cost.images:,} |" in text
