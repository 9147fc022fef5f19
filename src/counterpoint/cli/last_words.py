"""How every command ends: what it made, and which command comes next."""

import os
import shlex
from collections.abc import Mapping, Sequence

from counterpoint.training.launcher import is_first


def last_words(made: str, *following: Sequence[object], aside: bool = False) -> None:
    """Say what was made and where, and the next commands; aside, where the output is a result.

    >>> last_words("report.html, 2.1 MB", ["counterpoint", "embed", "runs/a b"])
    report.html, 2.1 MB
    next: counterpoint embed 'runs/a b'
    """
    if not is_first(os.environ):
        return
    from rich.console import Console

    lines = [made] if made else []
    for number, words in enumerate(following):
        said = shlex.join(str(word) for word in words)
        lines.append(f"{'next:' if number == 0 else '  or:'} {said}")
    Console(stderr=aside).print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def chosen_options(given: Mapping[str, object], usual: Mapping[str, object]) -> list[str]:
    """Return the options that are not as usual, as words of a command; None is usual for all.

    >>> chosen_options({"cpus": 2, "figure": "linear", "seeds": None}, {"figure": "linear"})
    ['--cpus', '2']
    """
    words: list[str] = []
    for name, value in given.items():
        if value is not None and value != usual.get(name):
            words += [f"--{name}", str(value)]
    return words
