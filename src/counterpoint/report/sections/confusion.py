"""Which classes are known and which are taken for each other."""

import math

from counterpoint.report.charts import Bar, bars, heatmap
from counterpoint.report.charts.frame import captioned
from counterpoint.report.evaluation_record import Probe
from counterpoint.report.figures import chosen_probe, headline_probe
from counterpoint.report.findings import Findings
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, scrolled
from counterpoint.report.words import percent

WIDEST = 30  # classes that a matrix shows; more are told by their most frequent mistakes
LISTED = 40  # bars of a list: the best and the worst of more
MISTAKES = 12

Found = list[tuple[int, Probe]]


def confusion_section(material: Material) -> Section | None:
    """Show accuracy by class and the confusion matrix, for every run that has them."""
    key = chosen_probe(material.runs)
    found = [
        (place, probe)
        for place, run in enumerate(material.runs)
        if (probe := headline_probe(run, key)) is not None
    ]
    by_class = [pair for pair in found if pair[1].per_class]
    drawn = [_per_class(material, by_class)] if by_class else []
    drawn += [_matrix(material, *pair) for pair in found if pair[1].confusion]
    kind = "pair several" if material.several else "pair"
    return Section("classes", "Classes", el("div", {"class": kind}, *drawn)) if drawn else None


def probe_class_names(run: Findings, probe: Probe) -> list[str]:
    """Name the classes of a probe, by number where names are missing."""
    count = len(probe.confusion or probe.per_class or ())
    known = run.evaluation.classes if run.evaluation and run.evaluation.classes else ()
    return [known[n] if n < len(known) else f"class {n}" for n in range(count)]


def _per_class(material: Material, found: Found) -> Html:
    """List classes from the best to the worst of the first run, the runs below each other."""
    shares: dict[str, list[tuple[int, float]]] = {}
    for place, probe in found:
        names = probe_class_names(material.runs[place], probe)
        for name, share in zip(names, probe.per_class or (), strict=False):
            if math.isfinite(share):
                shares.setdefault(name, []).append((place, share))
    ordered = sorted(shares, key=lambda name: -shares[name][0][1])
    shown = ordered[: LISTED // 2] + ordered[-LISTED // 2 :] if len(ordered) > LISTED else ordered
    rows = [
        Bar(name, share, place=place, letter=material.letter(place))
        for name in shown
        for place, share in shares[name]
    ]
    some = f", {LISTED} of {len(ordered)} classes" if len(ordered) > LISTED else ""
    note = f"{found[0][1].words}, test images; best first{some}."
    title = "Accuracy by class"
    return captioned(title, note, bars(rows, title=title, words=("class", "accuracy")))


def _matrix(material: Material, place: int, probe: Probe) -> Html:
    assert probe.confusion is not None
    names, badge = probe_class_names(material.runs[place], probe), material.badge(place)
    mistakes = worst(probe.confusion, names)
    if len(names) > WIDEST:
        items = el("ol", {}, *(el("li", {}, words) for words in mistakes))
        return captioned(join(["Most frequent mistakes ", badge]), None, items)
    told = f" Most often: {mistakes[0]}." if mistakes else ""
    note = f"Percent of each true class (rows) predicted as each class (columns).{told}"
    table = heatmap(probe.confusion, names, title="Confusion", corner="true \\ predicted")
    return captioned(join(["Confusion ", badge]), note, scrolled("Confusion matrix", table))


def worst(counts: tuple[tuple[float, ...], ...], names: list[str]) -> list[str]:
    """List the most frequent mistakes, as shares of the true class.

    >>> worst(((8, 2), (0, 9)), ["cat", "dog"])[0].replace("\u202f", " ")
    'cat taken for dog (20 %)'
    """
    found = [
        (count / (sum(row) or 1.0), names[true], names[other])
        for true, row in enumerate(counts)
        for other, count in enumerate(row)
        if other != true and count > 0
    ]
    found.sort(key=lambda mistake: -mistake[0])
    return [f"{a} taken for {b} ({percent(s, digits=0)})" for s, a, b in found[:MISTAKES]]


SECTIONS = (confusion_section,)
