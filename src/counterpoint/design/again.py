"""The command that makes a search again, from its settings."""

import shlex
from dataclasses import fields

from counterpoint.design.design_settings import DesignSettings
from counterpoint.design.search_files import Searched

OPTIONS = {"batch": "--batch-size", "watch": "--watch"}
"""Options that are not called as the setting is."""


def design_again(found: Searched, *, epochs: float, out: str) -> str:
    """Return the command of a search; `epochs` is the length of a full trial.

    Hours are those that were used and half a round more: as many rounds fit into them again.
    """
    settings = found.settings
    words = ["counterpoint", "design", settings.data]
    hours = found.core_hours * (1 + 0.5 / max(1, len(found.rounds)))
    words += ["--hours", f"{hours:.3g}", "--out", out]
    words += ["--full-epochs", f"{epochs:.6g}"]
    usual = {place.name: place.default for place in fields(DesignSettings)}
    for name in (place.name for place in fields(DesignSettings)):
        value = getattr(settings, name)
        if name in {"data", "full", "labelled", "least_steps"} or value == usual[name]:
            continue
        option = OPTIONS.get(name, "--" + name.replace("_", "-"))
        several = value if isinstance(value, tuple) else (value,)
        words += [option, ",".join(map(str, several))]
    return shlex.join(words)
