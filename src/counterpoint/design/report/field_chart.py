"""All candidates of a search at a glance, rung by rung."""

from counterpoint.design.candidate_settings import is_known
from counterpoint.design.judging import LOST
from counterpoint.design.report.design_material import DesignMaterial
from counterpoint.report.charts import Series, point_chart, point_legend
from counterpoint.report.charts.frame import captioned
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section

KNOWN, DRAWN, EARLIER = "known method", "drawn at random", "found earlier"
ORIGINS = (KNOWN, "one change", "crossover", DRAWN, EARLIER)
"""Where a candidate comes from, in the order of the colours."""


def field_section(material: DesignMaterial) -> Section | None:
    """Draw every candidate: its standing by round, and by the watched figure where there is one."""
    charts = [
        chart
        for rung, standing in enumerate(material.standings)
        if any(score != LOST for score in standing.values())
        for chart in (_by_round(material, rung), *_by_probe(material, rung))
    ]
    if not charts:
        return None
    said = (
        "Every point is a candidate that did not fail or collapse. Standings are compared within "
        "a rung: all candidates of a rung trained with the same number of operations."
    )
    body = [el("p", {}, said), el("div", {"class": "grid"}, *charts)]
    return Section("field", "All candidates", join(body))


def _by_round(material: DesignMaterial, rung: int) -> Html:
    places = {
        name: (float(material.born[name]), score)
        for name, score in material.standings[rung].items()
        if score != LOST
    }
    words = f"Rung {rung}: standing by round"
    return _chart(material, places, words, x_words="round")


def _by_probe(material: DesignMaterial, rung: int) -> list[Html]:
    """Draw the watched figure over the standing, which did not see it."""
    drawn = []
    for probe in material.probes:
        if material.found.settings.labels is not None:
            continue  # the standing is the figure
        found = material.on_rung(rung)
        places = {
            name: (score, 100 * found[name].figures[probe])
            for name, score in material.standings[rung].items()
            if score != LOST and probe in found[name].figures
        }
        if places:
            words = f"Rung {rung}: {probe}, percent, by standing"
            drawn.append(_chart(material, places, words, x_words="standing"))
    return drawn


def _chart(
    material: DesignMaterial, places: dict[str, tuple[float, float]], title: str, *, x_words: str
) -> Html:
    series = [
        Series(
            origin,
            tuple(at for name, at in places.items() if _origin(material, name) == origin),
            place=place,
        )
        for place, origin in enumerate(ORIGINS)
    ]
    best = None if material.best is None else places.get(material.best.candidate.fingerprint)
    drawn = point_chart(series, title=title, x_words=x_words, chosen=best, chosen_words="found")
    return captioned(title, None, drawn, point_legend(series))


def _origin(material: DesignMaterial, name: str) -> str:
    """Say where a candidate comes from: one without parents is of the first round, or was drawn."""
    candidate = material.candidates[name]
    if candidate.parents:
        return ORIGINS[len(candidate.parents)]
    if material.found.settings.strategy == "random":
        return DRAWN
    return KNOWN if is_known(candidate) else EARLIER
