"""What a run was trained with, what it cost, what it ran on and how to repeat it."""

from collections.abc import Callable, Mapping

from counterpoint.report.findings import Findings
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, code, compare_table, scrolled
from counterpoint.report.repeat import repeat
from counterpoint.report.words import NONE, THIN, duration, joined
from counterpoint.training.summary import epochs_words

Facts = Mapping[str, str]
FIRST = 4  # of a list of facts that is folded, to say what is in it


def settings(material: Material) -> Section | None:
    """Show the training settings; of several runs those that differ, the others folded."""
    return _facts(material, "settings", "Settings", _training)


def costs(material: Material) -> Section | None:
    """Show steps, images, weights, time and memory."""
    return _facts(material, "costs", "Costs", _costs)


def environment(material: Material) -> Section | None:
    """Show data, versions and whatever else was recorded."""
    return _facts(material, "environment", "Environment", _environment)


def repeating(material: Material) -> Section:
    """Write down the commands that make the runs again."""
    shown = [_commands(run, material.badge(place)) for place, run in enumerate(material.runs)]
    note = el("p", {}, code("DATA"), " is the folder of the images.")
    return Section("repeat", "Repeat", join([note, *shown]))


def _facts(
    material: Material, key: str, title: str, of: Callable[[Findings], Facts]
) -> Section | None:
    found = [of(run) for run in material.runs]
    names = list(dict.fromkeys(name for facts in found for name in facts))
    if not names:
        return None
    if not material.several:
        summary = el("summary", {}, f"{len(names)} entries: {', '.join(names[:FIRST])}, ...")
        closed = el("details", {}, summary, _list(found[0]))
        return Section(key, title, closed if len(names) > FIRST else _list(found[0]))
    changed = [name for name in names if len({facts.get(name) for facts in found}) > 1]
    heads = [
        el("th", {"scope": "col"}, material.badge(place), run.folder)
        for place, run in enumerate(material.runs)
    ]
    rows = [_row(name, found) for name in changed]
    table = scrolled(title, compare_table("", heads, rows)) if changed else None
    equal = {name: found[0][name] for name in names if name not in changed}
    summary = el("summary", {}, f"The same in all: {joined(list(equal))}")
    folded = el("details", {}, summary, _list(equal)) if equal else None
    return Section(key, title, join([table, folded]))


def _row(name: str, found: list[Facts]) -> Html:
    cells = [el("td", {}, facts.get(name, NONE)) for facts in found]
    return el("tr", {}, el("th", {"scope": "row"}, name), *cells)


def _list(facts: Facts) -> Html:
    pairs = [el("div", {}, el("dt", {}, k), el("dd", {}, v)) for k, v in facts.items()]
    return el("dl", {"class": "facts"}, *pairs)


def _training(run: Findings) -> Facts:
    facts = {key.replace("_", " "): _plain(value) for key, value in run.training.items()}
    if "epochs" in facts and run.steps is not None and run.job is not None and run.job.epoch:
        # --steps replaces them
        facts["epochs"] = epochs_words(run.steps / run.job.epoch).partition(" epoch")[0]
        facts["settings from"] = run.job.origin
    return facts


def _costs(run: Findings) -> Facts:
    facts = {}
    if run.steps is not None:
        facts["steps"] = f"{run.steps:,.0f}"
        if "batch" in run.training:
            facts["images seen"] = f"{run.steps * run.training['batch']:,.0f}"
    for name, (count, size) in run.weights.items():
        facts[f"weights of the {name}"] = f"{count:,} parameters, {size / 1e6:.1f}{THIN}MB"
    found = run.evaluation
    if found is not None:
        if found.seconds is not None:
            facts["evaluation"] = duration(found.seconds)
        if found.peak_mb is not None:
            facts["most memory while evaluating"] = f"{found.peak_mb:,.0f}{THIN}MB"
    return facts


def _environment(run: Findings) -> Facts:
    facts = {"folder": run.folder}
    if run.fingerprint:
        facts["method"] = run.fingerprint
    if run.data:
        facts["data"] = run.data
    if run.evaluation is not None and run.evaluation.data:
        digits = f" ({run.evaluation.fingerprint})" if run.evaluation.fingerprint else ""
        facts["evaluated on"] = f"{run.evaluation.data}{digits}"
    if run.image:
        facts["image"] = " x ".join(map(str, run.image))
    later = run.evaluation.versions if run.evaluation else {}
    changed = {k: v for k, v in later.items() if run.versions.get(k) != v}
    return {
        **facts,
        **run.versions,
        **{f"{name}, evaluating": version for name, version in changed.items()},
        **run.other,
    }


def _commands(run: Findings, badge: Html | None) -> Html:
    again = repeat(run)
    lines = el("pre", {"tabindex": 0}, code("\n".join(again.commands)))
    missing = None
    if again.missing:
        words = f"No option for {joined(again.missing)}: use Training from Python."
        missing = el("p", {"class": "hint"}, words)
    unknown = None
    if again.unknown:
        words = "It was written by an earlier version: add --limit and --size if it had them."
        unknown = el("p", {"class": "hint"}, words)
    copy = el("button", {"type": "button", "class": "copy", "hidden": ""}, "Copy")
    return el("div", {"class": "commands"}, badge, lines, copy, missing, unknown)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


SECTIONS = (costs, environment, repeating)
