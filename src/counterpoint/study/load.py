"""A study by its name, or from a user's own file."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path

from counterpoint.report.words import joined
from counterpoint.spelling import did_you_mean
from counterpoint.study.studies import STUDIES
from counterpoint.study.studies.scales import Scale
from counterpoint.study.trial import Trial
from counterpoint.user_file import run_file


def trials_of(name: str, scale: Scale) -> list[Trial]:
    """Return the trials of a study; a .py file is executed, and its function `study` called.

    >>> len(trials_of("table2", "small"))
    24
    """
    if name in STUDIES:
        return STUDIES[name](scale)
    if not name.endswith(".py"):
        near = did_you_mean(name, STUDIES)
        there = f"there are {', '.join(STUDIES)}, or a .py file"
        raise ValueError(f"study: got {name!r}; {there}; {near}".rstrip("; "))
    return _from_file(Path(name))


def _from_file(file: Path) -> list[Trial]:
    module = run_file(file, what="study")
    if not callable(getattr(module, "study", None)):
        raise ValueError(f"study: {file} has no function study(); it returns a list of trials")
    if needed := _without_defaults(module.study):
        raise ValueError(
            f"study: study() of {file} needs {joined(needed)}; it is called with nothing: give "
            "each a default"
        )
    given = module.study()
    # A study() that forgets its return gives None, which is no list.
    found = list(given) if isinstance(given, Iterable) else [given]
    wrong = [one for one in found if not isinstance(one, Trial)]
    if wrong or not found:
        got = type(wrong[0]).__name__ if wrong else "no trials"
        raise ValueError(
            f"study: study() of {file} gave {got}; needs a list of Trial, one at least: return it"
        )
    return found


def _without_defaults(function: Callable[..., object]) -> list[str]:
    """Name the arguments that a function cannot be called without."""
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind not in optional
    ]
