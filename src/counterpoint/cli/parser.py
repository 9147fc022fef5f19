"""The parser: made of the signatures and docstrings of the commands."""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from counterpoint.cli.commands import COMMANDS, description, example, options, summary
from counterpoint.cli.config import read_options

if TYPE_CHECKING:
    from jsonargparse import ArgumentParser


ANOTHER = {"launch": ("counterpoint", "pretrain")}
"""Commands that end with another one, and the words at which that begins."""
RAW = ("--sbatch",)
"""Options whose value is options of another program."""


class Typed(argparse.Action):
    """Keep what was typed; where nothing was, argparse would overwrite what a config says."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:  # noqa: ARG002
        if values:
            setattr(namespace, self.dest, values)


def make_parser(*names: str) -> "ArgumentParser":
    """Return the parser of some commands, or of all; it raises an ArgumentError."""
    from docstring_parser import parse
    from jsonargparse import ArgumentParser, set_loader, set_parsing_settings

    from counterpoint.cli.formatter import Help
    from counterpoint.cli.help import usage

    set_parsing_settings(import_path_denylist=["*"])  # a config never imports code
    set_loader("options", read_options, exceptions=(ValueError,))
    # Errors are ours to say; --lim is one: a new option could give it another meaning.
    make = partial(ArgumentParser, formatter_class=Help, exit_on_error=False, allow_abbrev=False)
    parser = make(prog="counterpoint", parser_mode="options")
    commands = parser.add_subcommands()
    for name in names or COMMANDS:  # one is made in a tenth of the time of all
        command = COMMANDS[name]
        one = make(
            usage=usage(name),
            description=description(name),
            epilog=f"example: {example(name)}",
        )
        one.add_argument("--config", action="config", help="File with any of these options.")
        words = {one.arg_name: one.description for one in parse(command.__doc__ or "").params}
        places = [option for option in options(name).values() if option.positional]
        # jsonargparse has no positional of several values, nor one that may be left out. Where one
        # is such all are ours, so that they stay in their order.
        mine = any(option.several or not option.required for option in places)
        ours = [option.name for option in places if mine]
        for argument in ours:
            option = options(name)[argument]
            single = None if option.required else "?"
            nargs = ("+" if option.required else "*") if option.several else single
            # Without a default argparse reads "*" as one or more.
            absent: dict[str, Any] = {} if option.required else {"default": None}
            one.add_argument(argument, nargs=nargs, help=words[argument], action=Typed, **absent)
        one.add_function_arguments(command, as_group=False, as_positional=True, skip={*ours})
        for action in one._actions:
            known = options(name).get(action.dest)
            if known is not None and not (known.positional or known.switch):
                action.metavar = known.value
        commands.add_subcommand(name, one, help=summary(name))
    return parser


def command_at_end(typed: list[str]) -> tuple[list[str], list[str]]:
    """Take the words of a command apart from those of another that stands at its end.

    >>> command_at_end(["launch", "slurm", "--nodes", "2", "pretrain", "photos", "--out", "a-run"])
    (['launch', 'slurm', '--nodes', '2'], ['--', 'pretrain', 'photos', '--out', 'a-run'])
    >>> command_at_end(["launch", "ray", "--name", "pretrain", "pretrain", "photos"])
    (['launch', 'ray', '--name', 'pretrain'], ['--', 'pretrain', 'photos'])
    """
    ends = ("--",) if "--" in typed else ANOTHER.get(typed[0] if typed else "", ())
    values = _values(typed)
    found = (n for n, word in enumerate(typed) if n and n not in values and word in ends)
    place = next(found, len(typed))
    own, more = typed[:place], typed[place:]
    return own, more if more[:1] in ([], ["--"]) else ["--", *more]


def _values(typed: list[str]) -> set[int]:
    """Find the words that are the value of the option before them."""
    known = options(typed[0]) if typed and typed[0] in COMMANDS else {}
    takes = {f"--{name}" for name, one in known.items() if not (one.positional or one.switch)}
    found: set[int] = set()
    for place, word in enumerate(typed):
        if place in found or not word.startswith("--") or _flag(word) not in takes:
            continue
        following = typed[place + 1] if place + 1 < len(typed) else "--"
        if not following.startswith("--") or _flag(word) in RAW:
            found.add(place + 1)
    return found


def _flag(word: str) -> str:
    return "--" + word[2:].replace("-", "_")


def spelled(typed: list[str]) -> list[str]:
    """Accept --batch-size for --batch_size, and --compile for --compile true.

    >>> spelled(["pretrain", "my-data", "--batch-size=64", "--compile"])
    ['pretrain', 'my-data', '--batch_size=64', '--compile=true']
    >>> spelled(["launch", "slurm", "--sbatch", "--mem-per-cpu=4G --qos=high", "pretrain"])
    ['launch', 'slurm', '--sbatch=--mem-per-cpu=4G --qos=high', '--', 'pretrain']
    """
    typed, more = command_at_end(typed)
    known = options(typed[0]) if typed and typed[0] in COMMANDS else {}
    switches = {f"--{name}" for name, option in known.items() if option.switch}
    values = _values(typed)
    result: list[str] = []
    for place, word in enumerate(typed):
        if place in values:
            if result[-1] in RAW:  # else argparse takes it for an option of ours
                word = f"{result.pop()}={word}"
            result.append(word)
            continue
        flag, equals, value = word.partition("=")
        if word.startswith("--"):
            flag = _flag(flag)
        following = typed[place + 1] if place + 1 < len(typed) else ""
        if flag in switches and not equals and following not in ("true", "false"):
            equals, value = "=", "true"
        result.append(flag + equals + value)
    return [*result, *more]
