"""Which candidate is ahead, by criteria that need no labels, or by a probe on validation images."""

from collections.abc import Mapping, Sequence
from math import nan

from counterpoint.evaluation.criteria import goodness, mean_rank

LOST = -1.0
"""The standing of a candidate that failed or collapsed: below all others."""
Figures = Mapping[str, float]


def standing(
    figures: Mapping[str, Figures], *, criteria: Sequence[str], probe: str | None = None
) -> dict[str, float]:
    """Return the standing of each candidate among all that were seen on one rung.

    It is the mean over the criteria of the candidate's rank, from 0 to 1. Values of two criteria
    have no common scale, and those of one are not comparable between methods by their size, only
    by their order. A criterion that is not a number has the lowest rank. With a probe it is the
    probe's accuracy on validation images instead. Figures of test images are never read here.

    >>> seen = {"a": {"rankme": 30.0, "rotation": 0.5}, "b": {"rankme": 60.0, "rotation": 0.6}}
    >>> seen |= {"c": {"rankme": 1.0, "rotation": 0.9, "collapsed": 1.0}, "d": {}}
    >>> standing(seen, criteria=("rankme", "rotation"))
    {'a': 0.0, 'b': 1.0, 'c': -1.0, 'd': -1.0}
    >>> standing({"a": {"knn": 0.9, "knn validation": 0.4}}, criteria=(), probe="knn")
    {'a': 0.4}
    """
    alive = [name for name, found in figures.items() if not lost(found)]
    if probe is None:
        columns = {c: [goodness(c, figures[name].get(c, nan)) for name in alive] for c in criteria}
        scores = mean_rank(columns) if alive else []
    else:
        scores = [figures[name][validation(probe)] for name in alive]
    return dict.fromkeys(figures, LOST) | dict(zip(alive, scores, strict=True))


def same_figures(figures: Mapping[str, Figures]) -> dict[str, str]:
    """Return the candidates that have the figures of an earlier one, with that one.

    On a CPU trials repeat to the last digit: if all figures are equal, the settings that differ
    change nothing, such as the average over positives where every anchor has one.

    >>> same_figures({"a": {"rankme": 3.1}, "b": {"rankme": 3.2}, "c": {"rankme": 3.1}, "d": {}})
    {'c': 'a'}
    """
    first: dict[object, str] = {}
    found = {}
    for name, own in figures.items():
        earlier = first.setdefault(tuple(sorted(own.items())), name)
        if earlier != name and not lost(own):
            found[name] = earlier
    return found


def lost(found: Figures) -> bool:
    """Whether a candidate has no place: it failed, or its vectors collapsed.

    >>> lost({}), lost({"collapsed": 1.0}), lost({"rankme": 9.0, "collapsed": 0.0})
    (True, True, False)
    """
    return not found or found.get("collapsed", 0.0) > 0


def validation(probe: str) -> str:
    """Return the name of a probe's figure on validation images.

    >>> validation("knn")
    'knn validation'
    """
    return f"{probe} validation"
