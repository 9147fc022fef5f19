"""What is wrong with the words that were typed, in one line that says what to do."""

import re

from counterpoint.cli.commands import COMMANDS, OURS, Option, example, options
from counterpoint.cli.help import usage
from counterpoint.spelling import did_you_mean

LENGTH = 300
"""Characters of a line; a value in a config file may have thousands."""

REASONS = {
    "precision": "fp16 is left out, its range is too small for scores; bf16-mixed has fp32's"
}
"""Why a value that people expect is not among the choices."""

KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def explained(typed: list[str], said: str) -> str:
    """Return what is wrong with a command that could not be read; `said` is the parser's error."""
    if not typed or typed[0] not in COMMANDS:
        word = typed[0] if typed else ""
        near = did_you_mean(word, COMMANDS) or "counterpoint --help lists them"
        return _short(f"there is no command {word!r}; {near}")
    known = options(typed[0])
    return _short(
        _unknown(typed, known)
        or _missing(typed[0], known, said)
        or _without_value(known, said)
        or _unfit(known, said)
        or _too_many(typed[0], said)
        or re.sub(r'Parser key "(\w+)":', r"--\1:", " ".join(said.split()))
    )


def _unknown(typed: list[str], known: dict[str, Option]) -> str:
    """Find an option that the command does not have."""
    names = [name.replace("_", "-") for name in (*known, *OURS) if name not in _places(known)]
    for word in typed[1:]:
        name = word.partition("=")[0].removeprefix("--").replace("_", "-")
        if not word.startswith("--") or name in names or name == "":
            continue
        if word.startswith("--print"):  # jsonargparse has flags behind this one
            continue
        flags = [f"--{one}" for one in names]
        near = did_you_mean(f"--{name}", flags) or f"counterpoint {typed[0]} --help lists them"
        return f"{typed[0]} has no option --{name}; {near}"
    return ""


def _missing(command: str, known: dict[str, Option], said: str) -> str:
    """Find what is required and was not given."""
    found = re.search(r"arguments are required: (.*)", said)
    if found is None:
        return ""
    names = [word.strip().rpartition(".")[2] for word in found[1].split(",")]
    flags = " and ".join(known[name].flag for name in names if name in known)
    return f"{command} needs {flags}; for example: {example(command)}"


def _without_value(known: dict[str, Option], said: str) -> str:
    found = re.search(r"argument --(\w+): expected one argument", said)
    return f"{known[found[1]].flag} needs a value" if found and found[1] in known else ""


def _unfit(known: dict[str, Option], said: str) -> str:
    """Find a value that its option does not take, typed or in a config file."""
    found = re.search(r'Parser key "(?:\w+\.)?(\w+)":', said)
    if found is None or found[1] not in known:
        return ""
    option = known[found[1]]
    value = re.search(r"(?:Given|Got) value: (.*)", said, re.DOTALL)
    got = repr(value[1]) if value else "something else"
    if option.choices:
        near = did_you_mean(value[1], option.choices) if value else ""
        more = f"; {near}" if near else ""
        more = f"; {REASONS[option.name]}" if option.name in REASONS else more
        return f"{option.flag} is one of {', '.join(option.choices)}, got {got}{more}"
    needs = " or ".join(KINDS[kind] for kind in option.kinds if kind in KINDS)
    return f"{option.flag} needs {needs}, got {got}" if needs else ""


def _too_many(command: str, said: str) -> str:
    found = re.search(r"unrecognized arguments: (.*)", said)
    return f"{command} does not take {found[1]!r}; {usage(command)}" if found else ""


def _places(known: dict[str, Option]) -> set[str]:
    return {name for name, option in known.items() if option.positional}


def _short(line: str) -> str:
    return line if len(line) <= LENGTH else line[:LENGTH] + " ..."
