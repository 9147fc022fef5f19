"""Logs of a run, line by line, that continue where the run does and never stop it.

What cannot be read is set aside and said; what cannot be written is said once, and training goes
on: a run of many machines does not end for a line of its log.
"""

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.failures import errno_name

Record = TypeVar("Record")
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""What reading a line raises that is not what was written."""


class Log:
    """A file to which a run adds lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.silenced = False
        """Whether it was said that nothing can be written; it is said once."""

    def read(self, parse: Callable[[str], Record], *, header: str = "") -> list[Record]:
        """Read whole lines; a file with one that cannot be read is set aside.

        Half a line at the end is what a killed process leaves, and is left out without a word.
        """
        records, bad = read_lines(self.file, parse, header=header)
        if bad:
            self._set_aside(bad)
        return records

    def text(self) -> str:
        """Return all that is in the file, and nothing where it cannot be read."""
        try:
            return self.file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def rewrite(self, text: str) -> None:
        """Begin the file anew with these lines."""
        self._write("w", text)

    def add(self, text: str) -> None:
        """Add lines at the end."""
        self._write("a", text)

    def _write(self, mode: str, text: str) -> None:
        try:
            with self.file.open(mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            if not self.silenced:
                say_of_log(
                    f"cannot write {self.file} ({errno_name(error)}); training continues without"
                )
            self.silenced = True
        else:
            self.silenced = False

    def _set_aside(self, bad: str) -> None:
        """Keep what is damaged under another name, for whoever wants to look at it."""
        names = (self.file.with_name(f"{self.file.name}.damaged-{n}") for n in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        try:
            self.file.rename(aside)
        except OSError as error:
            say_of_log(
                f"{self.file} is damaged ({bad}) and cannot be set aside ({errno_name(error)})"
            )
        else:
            say_of_log(
                f"{self.file} is damaged ({bad}); it is kept as {aside.name}, training continues"
            )


def read_lines(
    file: Path, parse: Callable[[str], Record], *, header: str = ""
) -> tuple[list[Record], str]:
    """Read the lines of a file that can be read, and say what is wrong with the first other."""
    if not file.exists():
        return [], ""
    try:
        *whole, _half = file.read_bytes().split(b"\n")
    except OSError as error:
        return [], errno_name(error)
    records: list[Record] = []
    wrong = ""
    for number, line in enumerate(whole, start=1):
        try:
            text = line.decode()
            if text and (number > 1 or text != header):
                records.append(parse(text))
        except DAMAGE as error:
            wrong = wrong or f"line {number}: {str(error).partition(chr(10))[0][:100]}"
    return records, wrong


def parse_object(line: str) -> dict[str, Any]:
    """Read a line of JSON that is an object."""
    found = json.loads(line)
    if not isinstance(found, dict):
        raise TypeError(f"is not an object but {type(found).__name__}")
    return found


def whole_number(value: object) -> int:
    """Take a number of steps or epochs as it was written."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def say_of_log(words: str) -> None:
    """Say one line about a log."""
    sys.stderr.write(f"log     {words}\n")
