"""How good the vectors are: every probe, with its interval."""

import shlex

from counterpoint.report.charts import Bar
from counterpoint.report.charts.bars import track
from counterpoint.report.evaluation_record import Probe
from counterpoint.report.figures import Key, interval_words, started
from counterpoint.report.findings import Findings
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, code, hint, scrolled
from counterpoint.report.repeat import bare_command
from counterpoint.report.words import NONE, duration, four_digits, label_share, percent

NOTE = (
    "Chosen on validation, scored once on the test images. The interval is 95 %, by drawing the "
    "test images again; it does not say what another training run would give."
)


def probes(material: Material) -> Section:
    """Show every probe of one run in full, or the same probes of several side by side."""
    title = "Probes"
    measured = [run for run in material.runs if run.evaluation is not None]
    if not measured:
        run = material.runs[0]
        asked = ["counterpoint", "evaluate", run.folder, "--data", "FOLDER"]
        words = code(
            shlex.join(bare_command(run, data="FOLDER", out=run.folder) if run.bare else asked)
        )
        return Section("probes", title, hint("No accuracies yet: ", words, " measures them."))
    table = _compared(material) if material.several else _alone(measured[0])
    parts = [el("p", {}, NOTE), _warning(measured), scrolled("Probes", table)]
    return Section("probes", title, join(parts))


def _alone(run: Findings) -> Html:
    known = run.before is not None
    start = ("before training",) if known else ()
    heads = ("probe", "labels", "test accuracy", *start, "95 % interval", "validation")
    more = ("seeds", "spread", "calibration error", "time")
    assert run.evaluation is not None
    rows = [
        el(
            "tr",
            {},
            el("th", {"scope": "row"}, probe.words, el("small", {}, _settings(probe))),
            el("td", {}, label_share(probe.fraction)),
            el("td", {"class": "measure"}, _measure(probe, 0)),
            el("td", {}, _started(run, probe)) if known else None,
            el("td", {}, interval_words(probe) or NONE),
            el("td", {}, percent(probe.validation)),
            el("td", {}, probe.seeds),
            el("td", {}, NONE if probe.spread is None else f"\u00b1 {percent(probe.spread)}"),
            el("td", {}, four_digits(probe.calibration_error)),
            el("td", {}, NONE if probe.seconds is None else duration(probe.seconds)),
        )
        for probe in run.evaluation.probes
    ]
    return _table([el("th", {"scope": "col"}, head) for head in (*heads, *more)], rows)


def _started(run: Findings, probe: Probe) -> str:
    """Write what the same probe reached before training."""
    before = started(run, probe)
    return NONE if before is None else percent(before.test)


def _compared(material: Material) -> Html:
    """Make a row for each probe and a column for each run."""
    keys: dict[Key, Probe] = {}
    for run in material.runs:
        for probe in run.evaluation.probes if run.evaluation else ():
            keys.setdefault((probe.name, probe.fraction), probe)
    heads = [el("th", {"scope": "col"}, word) for word in ("probe", "labels")]
    for place, run in enumerate(material.runs):
        heads.append(el("th", {"scope": "col"}, material.badge(place), run.folder))
    rows = []
    for key, probe in keys.items():
        found = [run.evaluation.probe(*key) if run.evaluation else None for run in material.runs]
        best = max((p.test for p in found if p and p.test is not None), default=None)
        cells = [
            _cell(p, place, best, _started(material.runs[place], p) if p else NONE)
            for place, p in enumerate(found)
        ]
        name = el("th", {"scope": "row"}, probe.words)
        rows.append(el("tr", {}, name, el("td", {}, label_share(probe.fraction)), *cells))
    return _table(heads, rows)


def _cell(probe: Probe | None, place: int, best: float | None, start: str) -> Html:
    if probe is None or probe.test is None:
        return el("td", {}, NONE)
    highest = el("span", {"class": "best"}, " \u00b7 highest") if probe.test == best else None
    return el(
        "td",
        {"class": "measure"},
        _measure(probe, place),
        el("small", {}, interval_words(probe), highest),
        None if start == NONE else el("small", {}, f"before training {start}"),
    )


def _warning(measured: list[Findings]) -> Html | None:
    """Say so where figures were measured on other images: they do not compare."""
    prints = {run.evaluation.fingerprint for run in measured if run.evaluation}
    if len(prints) < 2:
        return None
    words = "These runs were evaluated on different images: the figures are not comparable."
    return el("p", {"class": "warning"}, el("span", {"aria-hidden": "true"}, "! "), words)


def _measure(probe: Probe, place: int) -> Html:
    """Put the number beside its bar."""
    number = el("b", {}, percent(probe.test))
    if probe.test is None:
        return number
    bar = track(Bar(probe.words, probe.test, probe.low, probe.high, place))
    return el("div", {"class": "beside"}, number, bar)


def _settings(probe: Probe) -> str:
    shown = {k: f"{v:g}" if isinstance(v, float) else str(v) for k, v in probe.settings.items()}
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in shown.items())


def _table(heads: list[Html], rows: list[Html]) -> Html:
    top = el("thead", {}, el("tr", {}, *heads))
    return el("table", {"class": "figures probes"}, top, el("tbody", {}, *rows))


SECTIONS = (probes,)
