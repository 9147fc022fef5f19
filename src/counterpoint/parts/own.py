"""A user's own parts, from a Python file that they name."""

from dataclasses import is_dataclass
from pathlib import Path

from counterpoint.user_file import run_file


def own_parts(file: str | Path | None) -> dict[str, type]:
    """Execute a Python file and return the part classes that it defines, by name.

    This runs the file: only name one that you trust. A method's JSON never names a file.
    """
    if file is None:
        return {}
    module = run_file(file, what="parts")
    return {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
