"""All candidates of a search at a glance, rung by rung."""

from counterpoint.design.judging import LOST
from counterpoint.design.report.design_material import DesignMaterial
from counterpoint.report.charts import Series, point_chart, point_legend
from counterpoint.report.charts.frame import captioned
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section

KINDS = ("known method", "one change", "crossover")
"""By the number of parents."""
DRAWN = "drawn at random"


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
    candidates = material.candidates
    alone = DRAWN if material.found.settings.strategy == "random" else KINDS[0]
    series = [
        Series(
            kind,
            tuple(at for name, at in places.items() if len(candidates[name].parents) == parents),
            place=parents,
        )
        for parents, kind in enumerate((alone, *KINDS[1:]))
    ]
    best = None if material.best is None else places.get(material.best.candidate.fingerprint)
    drawn = point_chart(series, title=title, x_words=x_words, chosen=best, chosen_words="found")
    return captioned(title, None, drawn, point_legend(series))
