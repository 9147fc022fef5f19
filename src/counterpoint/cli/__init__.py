"""The command line. Nothing heavy is imported before a command runs."""

import sys
import traceback
from collections.abc import Sequence
from typing import Never

from counterpoint.cli.bounds import refuse_out_of_bounds
from counterpoint.cli.commands import COMMANDS
from counterpoint.cli.failing import BUG, for_people
from counterpoint.cli.mistakes import explained
from counterpoint.cli.parser import make_parser, spelled


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that was typed; a user's mistake is one line, not a trace."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if not typed or typed[0] in ("-h", "--help", "help"):
        from counterpoint.cli.help import overview

        (sys.stdout if typed else sys.stderr).write(overview())
        sys.exit(0 if typed else 2)
    if typed == ["--version"]:
        from importlib import metadata

        sys.stdout.write(f"counterpoint {metadata.version('counterpoint')}\n")
        return
    name, options = _read(typed)
    try:
        refuse_out_of_bounds(options)
        COMMANDS[name](**options)
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"counterpoint: {stop or 'stopped'}\n")
        sys.exit(130)  # what a shell expects of Ctrl-C
    except Exception as error:  # noqa: BLE001 (what is nobody's mistake is shown whole)
        line = for_people(error)
        if line is None:
            traceback.print_exc()
        sys.exit(f"counterpoint: {BUG if line is None else line}")


def _read(typed: list[str]) -> tuple[str, dict[str, object]]:
    """Read the words that were typed; what cannot be read is one line, and exit code 2."""
    from jsonargparse import ArgumentError

    if typed[0] not in COMMANDS:
        _refuse(explained(typed, ""))
    try:
        given = make_parser(typed[0]).parse_args(spelled(typed)).as_dict()
    except ArgumentError as error:
        _refuse(explained(typed, str(error)))
    except UnicodeDecodeError as error:
        _refuse(f"--config is not a text file: {error}")
    name = given["subcommand"]
    return name, {key: value for key, value in given[name].items() if key != "config"}


def _refuse(line: str) -> Never:
    sys.stderr.write(f"counterpoint: {line}\n")
    sys.exit(2)
