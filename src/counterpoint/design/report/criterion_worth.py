"""What the criteria are worth here: how far they agree with the labelled probe that was watched."""

from collections.abc import Sequence
from math import isnan

from counterpoint.design.criteria_calibration import ALL, Agreement, calibration
from counterpoint.design.criterion_doubts import rotation_doubt
from counterpoint.design.report.design_material import DesignMaterial, cell, figures_table
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, code, hint, scrolled
from counterpoint.report.words import joined


def worth_section(material: DesignMaterial) -> Section:
    """Show the agreement of each criterion with each probe; without one, where it was measured."""
    settings = material.found.settings
    outcomes = material.found.outcomes.values()
    # Each criterion by itself, and the mean rank of those that the search chose by.
    every = calibration(outcomes, chosen=settings.criteria)
    found = [one for one in every if one.criterion != ALL]
    title = "What the criteria are worth"
    doubt = rotation_doubt(material.found)
    doubted = [] if doubt is None else [hint(f"{doubt[0].upper()}{doubt[1:]}.")]
    if not found:
        words = (
            "No labelled probe was watched, so it is not known how well the criteria choose on "
            "these images. With labels add ",
            code("--watch knn"),
            "; it is recorded and chooses nothing.",
        )
        return Section("worth", title, join([*doubted, hint(*words)]))
    said = (
        "Rank correlation of each criterion with the validation accuracy of a labelled probe, "
        "among candidates of equal budget, and how many points choosing by it loses against "
        "choosing by labels. 95 % of bootstrap draws of candidates, each with all its trials, are "
        "between the two numbers in parentheses."
    )
    if settings.labels is None:
        said += f" The search chose by {criteria_words(settings.criteria)}."
    heads = ["criterion", "probe", "trials", "rank correlation", "points lost", "drawn at random"]
    table = figures_table(title, heads, [_row(one) for one in found])
    return Section("worth", title, join([*doubted, el("p", {}, said), scrolled(title, table)]))


def criteria_words(criteria: Sequence[str]) -> str:
    """Name what chooses.

    >>> criteria_words(["rotation"]), criteria_words(["rankme", "lidar"])
    ('rotation', 'the mean rank of rankme and lidar')
    """
    names = joined(list(criteria))
    return names if len(criteria) == 1 else f"the mean rank of {names}"


def _row(one: Agreement) -> list[Html]:
    between = f"{one.rho:.2f} ({one.low:.2f} to {one.high:.2f})"
    return [
        el("th", {"scope": "row"}, one.criterion),
        cell(one.probe),
        cell(f"{one.trials:,}"),
        cell("no order" if isnan(one.rho) else between),
        cell(f"{one.regret:.1f}"),
        cell(f"{one.at_random:.1f}"),
    ]
