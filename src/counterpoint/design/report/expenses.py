"""What a search cost, what was refused before it ran, and what failed when it did."""

from collections import Counter

from counterpoint.design.judging import lost
from counterpoint.design.report.design_material import (
    DesignMaterial,
    cell,
    change_words,
    figures_table,
    row_head,
)
from counterpoint.design.searched import core_hours
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, scrolled
from counterpoint.report.words import four_digits, percent

SHOWN = 40  # of each list; the others are in the folder


def expenses_section(material: DesignMaterial) -> Section:
    """Show what each rung cost, and how many trials were lost on it."""
    rows, settings = [], material.found.settings
    for rung in settings.rungs:
        ran = material.on_rung(rung.number).values()
        hours = sum(core_hours(o, settings) for o in ran)
        collapsed = sum(o.state == "done" and lost(o.figures) for o in ran)
        failed = sum(o.state == "failed" for o in ran)
        counts = [len(ran), collapsed, failed]
        rows.append(
            [
                el("th", {"scope": "row"}, f"rung {rung.number}"),
                cell(four_digits(rung.budget.n / 1e12)),
                *(cell(f"{count:,}") for count in counts),
                cell(four_digits(sum(o.cost.flops for o in ran) / 1e12)),
                cell(f"{hours:.2f}"),
            ]
        )
    heads = ["", "10\u00b9\u00b2 operations each", "trials", "collapsed", "failed"]
    heads += ["10\u00b9\u00b2 operations in all", "core-hours"]
    table = scrolled("Cost by rung", figures_table("Cost by rung", heads, rows))
    said = (
        "Every rung is a trial from the beginning, with a schedule of its own length. Core-hours "
        "are processor time of training and measuring; proposing candidates and starting "
        "processes are not in them."
    )
    return Section("cost", "Cost", join([el("p", {}, said), table]))


def refused_section(material: DesignMaterial) -> Section | None:
    """Count what was refused before it ran, by the part at fault."""
    refused = [pair for made in material.found.rounds for pair in made.refused]
    if not refused:
        return None
    proposed = len(refused) + len(material.candidates)
    by_part = Counter(why.partition(":")[0] for _, why in refused)
    items = [
        [el("th", {"scope": "row"}, part), cell(f"{count:,}"), cell(percent(count / proposed))]
        for part, count in by_part.most_common()
    ]
    said = (
        f"{len(refused):,} of {proposed:,} proposals were refused before they ran: built without "
        "data or memory, they did not fit together, or a step took too many operations."
    )
    table = figures_table("Refused by part", ["part", "refused", "of all proposals"], items)
    listed = [(change_words(one), why) for one, why in refused]
    return Section("refused", "Refused", join([el("p", {}, said), table, _listed(listed)]))


def losers_section(material: DesignMaterial) -> Section | None:
    """List what collapsed or failed: negative results are results."""
    outcomes = material.found.outcomes
    candidates = material.candidates
    gone = [
        (change_words(candidates[name]), f"rung {rung}: {_why(o.error)}")
        for (name, rung), o in outcomes.items()
        if lost(o.figures)
    ]
    if not gone:
        return None
    said = f"{len(gone):,} of {len(outcomes):,} trials collapsed or failed."
    return Section("losers", "Lost", join([el("p", {}, said), _listed(gone)]))


def _why(error: str) -> str:
    lines = error.strip().splitlines()
    return lines[0] if lines else "collapsed"


def _listed(pairs: list[tuple[str, str]]) -> Html:
    rows = [[row_head(change), el("td", {"class": "long"}, why)] for change, why in pairs[:SHOWN]]
    more = len(pairs) - SHOWN
    table = scrolled("One by one", figures_table("One by one", ["change", "why"], rows))
    rest = el("p", {"class": "hint"}, f"And {more:,} more, in the folder.") if more > 0 else None
    return el("details", {}, el("summary", {}, "One by one"), table, rest)
