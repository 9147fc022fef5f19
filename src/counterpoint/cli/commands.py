"""The commands by name, and what their signatures and docstrings say of each option."""

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

GROUPS: dict[str, tuple[str, ...]] = {
    "Prepare": ("doctor", "views", "shard"),
    "Choose a method": ("methods", "encoders", "anatomy", "check", "design", "confirm"),
    "Scale": ("plan",),
    "Train": ("pretrain", "launch"),
    "Measure": ("evaluate", "report"),
    "Use": ("embed", "search", "curate", "export"),
    "Scale to many runs": ("study", "table"),
}
"""The commands by what a person wants. The command NAME is `NAME_command` in cli/NAME.py."""

COMMANDS: dict[str, Callable[..., None]] = {
    name: getattr(import_module(f"counterpoint.cli.{name}"), f"{name}_command")
    for names in GROUPS.values()
    for name in names
}

OURS = ("config", "print_config", "help")
"""Options that every command has besides its own."""


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of a command: its name, the values it takes, and whether it is required."""

    name: str
    kinds: tuple[Any, ...]
    required: bool
    positional: bool

    @property
    def flag(self) -> str:
        """The way it is typed: DATA, or --batch-size."""
        return self.name.upper() if self.positional else "--" + self.name.replace("_", "-")

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it takes, where these are all."""
        found = (kind for kind in self.kinds if typing.get_origin(kind) is typing.Literal)
        return tuple(str(word) for kind in found for word in typing.get_args(kind))

    @property
    def value(self) -> str:
        """What stands for its value in the help: the choices, N, X, or the option's name."""
        if self.choices:
            return "{" + ",".join(self.choices) + "}"
        numbers = {int: "N", float: "X"}
        return next((numbers[k] for k in self.kinds if k in numbers), self.name.upper())

    @property
    def switch(self) -> bool:
        """Whether it is on when it is given without a value."""
        return bool in self.kinds

    @property
    def several(self) -> bool:
        """Whether it takes more than one value."""
        return any(typing.get_origin(kind) is list for kind in self.kinds)


def options(command: str) -> dict[str, Option]:
    """Return the options of a command, read from its signature.

    >>> options("pretrain")["out"]
    Option(name='out', kinds=(<class 'str'>,), required=True, positional=False)
    """
    function = COMMANDS[command]
    hints = typing.get_type_hints(function)
    return {
        name: Option(
            name,
            _kinds(hints[name]),
            required=parameter.default is inspect.Parameter.empty,
            positional=parameter.kind is not inspect.Parameter.KEYWORD_ONLY,
        )
        for name, parameter in inspect.signature(function).parameters.items()
    }


def summary(command: str) -> str:
    """Return the first sentence of a command's docstring."""
    return description(command).splitlines()[0]


def description(command: str) -> str:
    """Return what a command's docstring says before its example and its arguments."""
    doc = inspect.getdoc(COMMANDS[command]) or ""
    return doc.partition("\n\nExample:")[0].partition("\n\nArgs:")[0]


def example(command: str) -> str:
    """Return the example in a command's docstring.

    >>> example("methods")
    'counterpoint methods'
    """
    doc = inspect.getdoc(COMMANDS[command]) or ""
    return " ".join(doc.partition("\n\nExample:")[2].partition("\n\n")[0].split())


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Take a union apart, without None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(kind for kind in typing.get_args(hint) if kind is not types.NoneType)
    return (hint,)
