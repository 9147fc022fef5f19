"""The confirmation of a search: fresh seeds, test images, and the correction for many looks."""

import shlex
from collections.abc import Sequence

from counterpoint.design.confirmed import Compared, seed_words
from counterpoint.design.report.design_material import (
    DesignMaterial,
    cell,
    figures_table,
    row_head,
)
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, code, hint, scrolled
from counterpoint.report.words import NONE, joined
from counterpoint.study.tables.outcome_table import LEVEL


def compared_section(material: DesignMaterial) -> Section:
    """Show each comparison of the confirmation; without one, how to get it."""
    if not material.compared:
        words = "Not confirmed yet: everything above is one seed, chosen among many. "
        command = shlex.join(["counterpoint", "confirm", material.folder])
        missing = hint(words, code(command))
        return Section("confirmation", "Confirmation", missing)
    said = (
        "Fresh seeds, and test images that the search never read. Mean test accuracy in percent "
        "and the standard deviation over seeds, then how many points what was found is ahead. In "
        "parentheses the p of a t-test over seeds and test images, corrected for all "
        "comparisons that were planned (Holm); a comparison that misses seeds has their number "
        "instead. Equal operations are those of products and convolutions: views and the optimiser "
        "are not counted. "
    ) + (
        "Rivals whose name has a learning rate were tuned by it, on validation images."
        if material.tuned
        else "The rivals were not tuned."
    )
    body = [el("p", {}, said), el("p", {}, verdict_words(material.compared))]
    for column in dict.fromkeys(one.column for one in material.compared):
        own = [one for one in material.compared if one.column == column]
        body += [el("h3", {}, column), _accuracies(own, column), _differences(own, column)]
    return Section("confirmation", "Confirmation", join(body))


def verdict_words(compared: Sequence[Compared]) -> str:
    """Say of each found method how many comparisons it won and lost beyond chance."""
    said = []
    for name in dict.fromkeys(one.found for one in compared):
        own = [one for one in compared if one.found == name]
        sure = [one for one in own if beyond_chance(one)]
        ahead = sum(one.points > 0 for one in sure)
        said.append(
            f"{name} is ahead in {ahead} of {len(own)} comparisons and behind in "
            f"{len(sure) - ahead}"
        )
    return f"Beyond chance after correction, {joined(said)}."


def beyond_chance(one: Compared) -> bool:
    """Whether a difference has all its seeds and is too large for luck."""
    return one.corrected is not None and one.corrected < LEVEL


def _accuracies(own: Sequence[Compared], column: str) -> Html:
    """Show every contender once, with a column for each probe."""
    values: dict[str, dict[str, str]] = {}
    for one in own:
        for name, mean, spread in zip((one.found, one.rival), one.means, one.spreads, strict=True):
            more = "" if spread is None else f" \u00b1 {100 * spread:.1f}"
            values.setdefault(name, {})[one.probe] = f"{100 * mean:.1f}{more}"
    found = list(dict.fromkeys(one.found for one in own))
    names = [*found, *(name for name in values if name not in found)]
    probes = list(dict.fromkeys(one.probe for one in own))
    rows = [
        [row_head(name), *(cell(values[name].get(probe, NONE)) for probe in probes)]
        for name in names
    ]
    heads = ["method", *(f"{probe}, %" for probe in probes)]
    title = f"Accuracy, {column}"
    return scrolled(title, figures_table(title, heads, rows))


def _differences(own: Sequence[Compared], column: str) -> Html:
    """Show each found method against each rival, with a column for each probe."""
    probes = list(dict.fromkeys(one.probe for one in own))
    pairs = list(dict.fromkeys((one.found, one.rival) for one in own))
    by_place = {(one.found, one.rival, one.probe): one for one in own}
    rows = [
        [
            row_head(f"{found} against {rival}"),
            *(_points(by_place.get((found, rival, probe))) for probe in probes),
        ]
        for found, rival in pairs
    ]
    title = f"Points ahead, {column}"
    heads = ["points ahead (p)", *probes]
    return scrolled(title, figures_table(title, heads, rows))


def _points(one: Compared | None) -> Html:
    if one is None:
        return cell(NONE)
    p = seed_words(one) + " seeds"
    if one.corrected is not None:
        p = "1" if one.corrected >= 1 else f"{one.corrected:.2g}"
    words = f"{one.points:+.1f} ({p})".replace("-", "\u2212", 1)
    sure = beyond_chance(one)
    kind = None if not sure else "up" if one.points > 0 else "down"
    return el("td", {"class": kind}, el("b", {}, words) if sure else words)
