"""The commands by name, and what their signatures say of each option."""

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from counterpoint.cli.check import check_command
from counterpoint.cli.doctor import doctor_command
from counterpoint.cli.encoders import encoders_command
from counterpoint.cli.evaluate import evaluate_command
from counterpoint.cli.methods import anatomy_command, methods_command
from counterpoint.cli.pretrain import pretrain_command
from counterpoint.cli.report import report_command
from counterpoint.cli.study import study_command
from counterpoint.cli.table import table_command
from counterpoint.cli.views import views_command

COMMANDS: dict[str, Callable[..., None]] = {
    "doctor": doctor_command,
    "views": views_command,
    "pretrain": pretrain_command,
    "evaluate": evaluate_command,
    "report": report_command,
    "methods": methods_command,
    "encoders": encoders_command,
    "anatomy": anatomy_command,
    "check": check_command,
    "study": study_command,
    "table": table_command,
}

OURS = ("config", "print_config", "help")
"""Options that every command has besides its own."""


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of a command: its name, the values it takes, and whether it has to be given."""

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
    def switch(self) -> bool:
        """Whether it is on when it is given without a value."""
        return bool in self.kinds


def options(command: str) -> dict[str, Option]:
    """Read the options of a command from its signature.

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
    """Give the first sentence of a command's docstring."""
    return (COMMANDS[command].__doc__ or "").splitlines()[0]


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Take a union apart, without None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(kind for kind in typing.get_args(hint) if kind is not types.NoneType)
    return (hint,)
