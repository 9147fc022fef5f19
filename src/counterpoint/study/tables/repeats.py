"""A cell of a table is one trial with several seeds."""

from collections.abc import Iterable
from dataclasses import fields

from counterpoint.report.words import joined
from counterpoint.study.budget import Budget, Seconds
from counterpoint.study.trial import LABELS, Trial

FREE = LABELS | {"seed"}
"""In these the trials of one cell may differ."""


def require_repeats(trials: Iterable[Trial]) -> None:
    """Refuse trials that share a cell and differ in more than seed and name.

    Their mean would be that of different things, and their spread not that of seeds. Only a budget
    in seconds may stand beside another: what it came to for one seed may be given to the others,
    to all of them the same.

    >>> from counterpoint.study.budget import Images
    >>> require_repeats([Trial(method=name, data="", budget=Images(9)) for name in ("cpc", "moco")])
    Traceback (most recent call last):
        ...
    ValueError: study: row '' and column '' have trials that differ in method; the trials of a ...
    """
    first: dict[tuple[str, str], Trial] = {}
    budgets: dict[tuple[str, str, bool], Budget] = {}
    settings = [one.name for one in fields(Trial) if one.name not in FREE | {"budget"}]
    for trial in trials:
        other = first.setdefault((trial.row, trial.column), trial)
        apart = [name for name in settings if getattr(trial, name) != getattr(other, name)]
        timed = isinstance(trial.budget, Seconds)
        if trial.budget != budgets.setdefault((trial.row, trial.column, timed), trial.budget):
            apart.append("budget")
        if apart:
            raise ValueError(
                f"study: row {trial.row!r} and column {trial.column!r} have trials that differ in "
                f"{joined(apart)}; the trials of a cell differ in seed and name only: give each "
                "its own row or column"
            )
