"""The command line. Nothing heavy is imported before a command runs."""

import io
import sys
import traceback
from collections.abc import Sequence

from counterpoint.cli.bounds import refuse_out_of_bounds
from counterpoint.cli.commands import COMMANDS
from counterpoint.cli.failing import BUG, for_people
from counterpoint.cli.typed_words import read_words
from counterpoint.version import VERSION


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that was typed; a user's mistake is one line, not a trace."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")  # a name that is no text, byte for byte
    if not typed or typed[0] in ("-h", "--help", "help"):
        from counterpoint.cli.help import overview

        (sys.stdout if typed else sys.stderr).write(overview())
        sys.exit(0 if typed else 2)
    if typed == ["--version"]:
        sys.stdout.write(f"counterpoint {VERSION}\n")
        return
    name, options = read_words(typed)
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
