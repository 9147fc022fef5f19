"""How accuracy falls when images are damaged or moved."""

import math

from counterpoint.report.charts import Bar, Guide, Series, bars, lines
from counterpoint.report.charts.frame import captioned
from counterpoint.report.evaluation_record import RobustnessRecord
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section
from counterpoint.report.words import joined, percent

Found = list[tuple[int, RobustnessRecord]]


def robustness_section(material: Material) -> Section | None:
    """Draw a small chart for each corruption, and bars for the shifts."""
    found = [
        (place, run.evaluation.robustness)
        for place, run in enumerate(material.runs)
        if run.evaluation and run.evaluation.robustness
    ]
    if not found:
        return None
    names = list(dict.fromkeys(name for _, one in found for name in one.corruptions))
    charts = [one for name in names if (one := _corruption(material, found, name)) is not None]
    grid = el("div", {"class": "grid small"}, *charts) if charts else None
    body = join([_words(material, found), grid, _shifts(material, found)])
    return Section("robustness", "Robustness", body)


def _words(material: Material, found: Found) -> Html:
    """Say the mean over all corruptions, and which one hurts most."""
    said = []
    for place, one in found:
        curves = {name: [share for _, share in _points(one, name)] for name in one.corruptions}
        means = {name: sum(curve) / len(curve) for name, curve in curves.items() if curve}
        if not means:
            continue
        hardest = min(means, key=lambda name: means[name])
        mean = sum(means.values()) / len(means)
        clean = f"{percent(one.clean)} on clean images, " if one.clean is not None else ""
        words = (
            f"{clean}{percent(mean)} over all corruptions; hardest: {without_underscores(hardest)}."
        )
        said.append(el("p", {}, material.badge(place), words))
    return join(said)


def _corruption(material: Material, found: Found, name: str) -> Html | None:
    series = [
        Series(material.runs[place].folder, _points(one, name), place, material.letter(place))
        for place, one in found
        if _points(one, name)
    ]
    if not series:
        return None
    cleans = {one.clean for _, one in found if one.clean is not None}
    guides = [Guide("clean", cleans.pop())] if len(cleans) == 1 and not material.several else []
    left = joined([f"{s.letter} {percent(s.points[-1][1], digits=0)}".strip() for s in series])
    chart = lines(
        series,
        title=without_underscores(name),
        x_words="severity",
        guides=guides,
        zero=True,
        small=True,
    )
    return captioned(without_underscores(name).capitalize(), f"{left} at the strongest", chart)


def _points(one: RobustnessRecord, name: str) -> tuple[tuple[float, float], ...]:
    pairs = enumerate(one.corruptions.get(name, ()), start=1)
    return tuple((float(n), share) for n, share in pairs if math.isfinite(share))


def _shifts(material: Material, found: Found) -> Html | None:
    rows = [
        Bar(name, share, place=place, letter=material.letter(place))
        for name in dict.fromkeys(name for _, one in found for name in one.shifts)
        for place, one in found
        if (share := one.shifts.get(name)) is not None
    ]
    if not rows:
        return None
    table = bars(rows, title="Shifts", words=("shift", "accuracy"))
    return captioned("Shifts", "Accuracy on images that were moved, turned or scaled.", table)


def without_underscores(name: str) -> str:
    """Write a name without underscores.

    >>> without_underscores("jpeg_compression")
    'jpeg compression'
    """
    return name.replace("_", " ")


SECTIONS = (robustness_section,)
