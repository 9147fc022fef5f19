"""The command that makes a search again, from its settings."""

import shlex
from dataclasses import fields

from counterpoint.design.design_settings import DesignSettings
from counterpoint.design.searched import Searched

OPTIONS = {"batch": "--batch-size"}
"""Options that are not called as the setting is."""


def design_again(found: Searched, *, epochs: float, out: str) -> str:
    """Return the command of a search; `epochs` is the length of a full trial.

    Rounds are those that there were. Hours are twice those that were used: another sitting, or
    another machine, is not equally fast, and the rounds have to fit.
    """
    settings = found.settings
    words = ["counterpoint", "design", settings.data]
    words += ["--hours", f"{2 * found.core_hours:.3g}"]
    words += ["--rounds", str(max(1, len(found.rounds))), "--out", out]
    if not all(one.halved for one in found.rounds):
        words += ["--halved", str(sum(one.halved for one in found.rounds))]
    words += ["--full-epochs", f"{epochs:.6g}"]
    return shlex.join(words + options_of(settings))


def setting_words(settings: DesignSettings, name: str) -> str:
    """Return one setting in the words of the command line.

    >>> some = DesignSettings(data="cells", full=1.1e12, criteria=("rankme", "lidar"))
    >>> [setting_words(some, name) for name in ("criteria", "batch", "full")]
    ['--criteria rankme,lidar', 'no --batch-size', 'full trials of 1.1e+12 operations']
    """
    value = getattr(settings, name)
    if name == "full":
        return f"full trials of {value:.3g} operations"
    if name == "data":
        return f"the images {value}"
    option = OPTIONS.get(name, "--" + name.replace("_", "-"))
    if value is None or value == ():
        return f"no {option}"
    return f"{option} {','.join(map(str, value)) if isinstance(value, tuple) else value}"


def options_of(settings: DesignSettings) -> list[str]:
    """Return the options of a search that are not the usual ones, without its length and data.

    >>> options_of(DesignSettings(data="cells", full=1e12, criteria=("rankme", "lidar"), seed=3))
    ['--seed', '3', '--criteria', 'rankme,lidar']
    """
    words: list[str] = []
    usual = {place.name: place.default for place in fields(DesignSettings)}
    for name in (place.name for place in fields(DesignSettings)):
        value = getattr(settings, name)
        if name in {"data", "full", "least_steps"} or value == usual[name]:
            continue
        option = OPTIONS.get(name, "--" + name.replace("_", "-"))
        several = value if isinstance(value, tuple) else (value,)
        words += [option, ",".join(map(str, several))]
    return words
