"""The importance of each part over all candidates of a rung."""

from counterpoint.design.importance import Importance, part_importance
from counterpoint.design.report.design_material import (
    DesignMaterial,
    cell,
    figures_table,
)
from counterpoint.report.charts.bars import Bar, track
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, scrolled
from counterpoint.report.words import percent

ENOUGH = 12  # candidates of a rung; of fewer a share says nothing. Our choice


DRAWN = "On rung {} candidates are independent draws, and the p is that of shuffled kinds. "
CHOSEN = "Longer rungs have those that were chosen, and no p. "
BRED = (
    "Parts did not vary independently, so the shares do not add up and say what went with success, "
    "not what caused it. For the same reason they have no p; those of a random search have one."
)


def shares_section(material: DesignMaterial) -> Section | None:
    """Show how much of the differences each part explains, on every rung with enough trials."""
    found = material.found
    begun = {found.settings.rungs_of(made)[0].number for made in found.rounds}
    drawn = min(begun) if found.settings.strategy == "random" and len(begun) == 1 else None
    shown = []
    for rung, standing in enumerate(material.standings):
        if len(standing) < ENOUGH:
            continue
        methods = [material.candidates[name].method for name in standing]
        shares = part_importance(methods, list(standing.values()), independent=rung == drawn)
        shown.append((rung, len(standing), _table(shares)))
    if not shown:
        return None
    if drawn is None:  # the longest trials say most; in a random search the first ones have a p
        shown.reverse()
    said = (
        "How much of the differences in rank between candidates is explained by which kind of part "
        "they have (eta squared), less what as many kinds explain by chance. "
        + (BRED if drawn is None else _drawn_words(drawn, [rung for rung, *_ in shown]))
        + " Numbers such as a temperature are left out."
    )
    rung, many, table = shown[0]
    first = el("p", {"class": "hint"}, f"Rung {rung}, {many} candidates.")
    body = [el("p", {}, said), first, table]
    for rung, many, table in shown[1:]:
        summary = el("summary", {}, f"Rung {rung}, {many} candidates")
        body.append(el("details", {}, summary, table))
    return Section("importance", "Which part decides", join(body))


def _drawn_words(drawn: int, shown: list[int]) -> str:
    """Say which shares have a p."""
    chosen = CHOSEN if max(shown) > drawn else ""
    return DRAWN.format(drawn) + chosen + "The shares do not add up."


def _table(found: list[Importance]) -> Html:
    ordered = sorted(found, key=lambda one: -one.beyond)
    tested = ["p"] if any(one.p is not None for one in found) else []
    heads = ["part", "share beyond chance", *tested, "share", "by chance", "kinds"]
    table = figures_table("Importance of each part", heads, [_row(one) for one in ordered])
    return scrolled("Importance of each part", table)


def _row(one: Importance) -> list[Html]:
    beyond = max(one.beyond, 0.0)
    shown = el("b", {}, percent(beyond, digits=0))
    bar = el("div", {"class": "beside"}, track(Bar(one.part, beyond)), shown)
    return [
        el("th", {"scope": "row"}, one.part),
        el("td", {"class": "measure"}, bar),
        *([] if one.p is None else [cell(f"{one.p:.2g}" if one.p >= 0.001 else "< 0.001")]),
        cell(percent(one.share, digits=0)),
        cell(percent(one.chance, digits=0)),
        cell(one.kinds),
    ]
