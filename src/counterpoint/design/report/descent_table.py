"""How the method was found: each change since a known method, and what it bought."""

from counterpoint.design.lineage import Descent, lineage
from counterpoint.design.report.design_material import (
    DesignMaterial,
    cell,
    change_words,
    figures_table,
    row_head,
    signed,
)
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, scrolled
from counterpoint.report.words import NONE


def descent_section(material: DesignMaterial) -> Section | None:
    """List the changes from a known method to the best candidate."""
    if material.best is None:
        return None
    every = material.candidates
    line = lineage(material.best.candidate, every, material.standings, material.watched())
    if len(line) == 1:
        return None
    probes = material.probes
    heads = ["change", "rung", "standing", *(f"{probe}, points" for probe in probes)]
    rows = [_row(one, material, probes, first=one is line[0]) for one in line]
    said = (
        "Each row is a change to the one above. Standing is the mean rank among all candidates of "
        "the rung, from 0 to 1; a difference is measured on the highest rung that both were run "
        "on, and is not known where they share none. "
        "Each is one seed: a small difference may be chance."
    )
    if material.found.settings.labels is not None:
        said = (
            "Each row is a change to the one above. Standing is the probe's validation accuracy; "
            "a difference is measured on the highest rung that both were run on, with one seed, "
            "and is not known where they share none."
        )
    table = figures_table("Changes and what each bought", heads, rows)
    body = join([el("p", {}, said), scrolled("Changes and what each bought", table)])
    return Section("lineage", "How it was found", body)


def _row(one: Descent, material: DesignMaterial, probes: list[str], *, first: bool) -> list[Html]:
    other = None
    if one.other is not None:
        other = el("small", {}, f"crossed with {material.name_of(one.other)}")
    words = el("span", {}, change_words(one.candidate), " ", other)
    gains = [
        signed(None if probe not in one.gains else 100 * one.gains[probe], 1) for probe in probes
    ]
    # A later row may have no rung either: it and the one above were trained on different ones.
    rung = "start" if first else NONE if one.rung is None else str(one.rung)
    return [row_head(words), cell(rung), signed(one.bought, 2), *gains]
