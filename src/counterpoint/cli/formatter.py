"""The layout of the help of one command."""

import re
from argparse import SUPPRESS
from typing import Any

from jsonargparse import DefaultHelpFormatter


class Help(DefaultHelpFormatter):
    """Help with dashes, and without the types and the nulls of Python."""

    def _get_help_string(self, action: Any) -> str:
        if action.dest == "print_config":
            return "Print all options as a config file, and exit."
        said = (action.help or "").strip()
        value = action.default
        silent = value is None or value is False or value == SUPPRESS
        if silent or not action.option_strings or action.required:
            return said
        word = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{said.removesuffix('.')} (default: {word})."

    def _format_action_invocation(self, action: Any) -> str:
        text = str(super()._format_action_invocation(action))
        return text.removesuffix(" {true,false}")

    def format_help(self) -> str:
        """Write --batch_size as --batch-size, as people type it."""
        return re.sub(r"--\w+", lambda found: found[0].replace("_", "-"), super().format_help())
