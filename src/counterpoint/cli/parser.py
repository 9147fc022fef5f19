"""The parser: made of the signatures and docstrings of the commands."""

import inspect
from functools import partial
from typing import TYPE_CHECKING

from counterpoint.cli.commands import COMMANDS, options, summary
from counterpoint.cli.config import read_options

if TYPE_CHECKING:
    from jsonargparse import ArgumentParser

SEVERAL = {"names": "Names of methods.", "folders": "Folders of runs."}
"""Arguments of which there may be more than one."""

PERHAPS = {"search": "Part of a name of timm's, such as vit_tiny."}
"""Arguments without a flag that may be left out."""


def make_parser() -> "ArgumentParser":
    """Make the parser of all commands; what it cannot read it raises as an ArgumentError."""
    from jsonargparse import ArgumentParser, set_loader, set_parsing_settings

    from counterpoint.cli.formatter import Help
    from counterpoint.cli.help import EXAMPLES, usage

    set_parsing_settings(import_path_denylist=["*"])  # a config never imports code
    set_loader("options", read_options, exceptions=(ValueError,))
    # Errors are ours to say; --lim is one: a new option could give it another meaning.
    make = partial(ArgumentParser, formatter_class=Help, exit_on_error=False, allow_abbrev=False)
    parser = make(prog="counterpoint", parser_mode="options")
    commands = parser.add_subcommands()
    for name, command in COMMANDS.items():
        described = (inspect.getdoc(command) or "").partition("\n\nArgs:")[0]
        one = make(
            usage=usage(name),
            description=described,
            epilog=f"example: {EXAMPLES[name]}",
        )
        one.add_argument("--config", action="config", help="File with any of these options.")
        many = (SEVERAL | PERHAPS).keys() & options(name).keys()
        for argument in many:
            several = argument in SEVERAL
            words = (SEVERAL | PERHAPS)[argument]
            one.add_argument(argument, nargs="+" if several else "?", help=words)
        one.add_function_arguments(command, as_group=False, as_positional=True, skip={*many})
        for action in one._actions:
            known = options(name).get(action.dest)
            if known is not None and known.choices:
                action.metavar = "{" + ",".join(known.choices) + "}"
        commands.add_subcommand(name, one, help=summary(name))
    return parser


def spelled(typed: list[str]) -> list[str]:
    """Accept --batch-size for --batch_size, and --compile for --compile true.

    >>> spelled(["pretrain", "my-data", "--batch-size=64", "--compile"])
    ['pretrain', 'my-data', '--batch_size=64', '--compile=true']
    """
    known = options(typed[0]) if typed and typed[0] in COMMANDS else {}
    switches = {f"--{name}" for name, option in known.items() if option.switch}
    result = []
    for place, word in enumerate(typed):
        flag, equals, value = word.partition("=")
        if word.startswith("--"):
            flag = "--" + flag[2:].replace("-", "_")
        following = typed[place + 1] if place + 1 < len(typed) else ""
        if flag in switches and not equals and following not in ("true", "false"):
            equals, value = "=", "true"
        result.append(flag + equals + value)
    return result
