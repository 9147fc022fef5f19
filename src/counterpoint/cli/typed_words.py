"""From the words that were typed to a command and its options; what cannot be read is one line."""

import sys
from typing import Never

from counterpoint.cli.commands import COMMANDS
from counterpoint.cli.mistakes import explained
from counterpoint.cli.parser import command_at_end, make_parser, spelled


def read_words(typed: list[str]) -> tuple[str, dict[str, object]]:
    """Read the words that were typed; what cannot be read is one line, and exit code 2."""
    from jsonargparse import ArgumentError

    if typed[0] not in COMMANDS:
        _refuse(explained(typed, ""))
    try:
        given = make_parser(typed[0]).parse_args(spelled(typed)).as_dict()
    except ArgumentError as error:
        own, _ = command_at_end(typed)
        _refuse(explained(own, str(error)))
    except UnicodeDecodeError as error:
        _refuse(f"--config is not a text file: {error}")
    name = given["subcommand"]
    return name, {key: value for key, value in given[name].items() if key != "config"}


def _refuse(line: str) -> Never:
    sys.stderr.write(f"counterpoint: {line}\n")
    sys.exit(2)
