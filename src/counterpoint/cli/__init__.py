"""The command line. Nothing heavy is imported before a command runs."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from counterpoint.cli.check import check_command
from counterpoint.cli.config import read_options
from counterpoint.cli.doctor import doctor_command
from counterpoint.cli.evaluate import evaluate_command
from counterpoint.cli.methods import anatomy_command, methods_command
from counterpoint.cli.pretrain import pretrain_command
from counterpoint.cli.report import report_command
from counterpoint.cli.study import study_command
from counterpoint.cli.table import table_command
from counterpoint.cli.views import views_command
from counterpoint.failures import RunFailure

if TYPE_CHECKING:
    from jsonargparse import ArgumentParser

SEVERAL = {"names": "Names of methods.", "folders": "Folders of runs."}
"""Arguments of which there may be more than one."""

SWITCHES = {"--compile", "--plan"}
"""Options that are on when they are given without a value."""

COMMANDS: dict[str, Callable[..., None]] = {
    "doctor": doctor_command,
    "pretrain": pretrain_command,
    "evaluate": evaluate_command,
    "report": report_command,
    "views": views_command,
    "check": check_command,
    "study": study_command,
    "table": table_command,
    "methods": methods_command,
    "anatomy": anatomy_command,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that was typed; a user's mistake is one line, not a trace."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        given = _parser().parse_args(_spelled(typed)).as_dict()
        name = given["subcommand"]
        options = {key: value for key, value in given[name].items() if key != "config"}
        COMMANDS[name](**options)
    except (ValueError, FileNotFoundError, RunFailure) as error:
        sys.exit(f"counterpoint: {error}")
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"counterpoint: {stop or 'stopped'}\n")
        sys.exit(130)  # what a shell expects of Ctrl-C


def _parser() -> "ArgumentParser":
    """Make the parser from the signatures and docstrings of the commands."""
    from jsonargparse import ArgumentParser, set_loader, set_parsing_settings

    set_parsing_settings(import_path_denylist=["*"])  # a config never imports code
    set_loader("options", read_options, exceptions=(ValueError,))
    parser = ArgumentParser(
        prog="counterpoint",
        description="Contrastive learning in five parts.",
        parser_mode="options",
    )
    commands = parser.add_subcommands()
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").splitlines()[0]
        one = ArgumentParser(description=summary)
        one.add_argument("--config", action="config", help="File with any of these options.")
        several = SEVERAL.keys() & command.__annotations__.keys()
        for argument in several:
            one.add_argument(argument, nargs="+", help=SEVERAL[argument])
        one.add_function_arguments(command, as_group=False, as_positional=True, skip={*several})
        commands.add_subcommand(name, one, help=summary)
    return parser


def _spelled(typed: list[str]) -> list[str]:
    """Accept --batch-size for --batch_size, and --compile for --compile true.

    >>> _spelled(["pretrain", "my-data", "--batch-size=64", "--compile"])
    ['pretrain', 'my-data', '--batch_size=64', '--compile=true']
    """
    spelled = []
    for place, word in enumerate(typed):
        flag, equals, value = word.partition("=")
        if word.startswith("--"):
            flag = "--" + flag[2:].replace("-", "_")
        following = typed[place + 1] if place + 1 < len(typed) else ""
        if flag in SWITCHES and not equals and following not in ("true", "false"):
            equals, value = "=", "true"
        spelled.append(flag + equals + value)
    return spelled
