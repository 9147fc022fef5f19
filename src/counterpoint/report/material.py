"""What a page is made from, and what its sections are."""

from dataclasses import dataclass

from counterpoint.report.charts.shapes import COLOURS
from counterpoint.report.findings import Findings
from counterpoint.report.markup import Attributes, Html, el
from counterpoint.report.samples import Sample, Seen
from counterpoint.report.words import letter


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Runs, and where images were given, what the runs make of them."""

    runs: tuple[Findings, ...]
    sample: Sample | None = None
    seen: tuple[Seen, ...] = ()
    """One for each run, or none at all without images."""

    @property
    def several(self) -> bool:
        return len(self.runs) > 1

    def letter(self, place: int) -> str:
        """Return a run's letter; a run that is alone needs none."""
        return letter(place) if self.several else ""

    def badge(self, place: int) -> Html | None:
        """Return a run's letter in its colour."""
        kind = {"class": f"badge c{place % COLOURS}"}
        return el("span", kind, letter(place)) if self.several else None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its anchor, its heading and what is under it."""

    key: str
    title: str
    body: Html


def hint(*words: str | Html) -> Html:
    """Say in one line how to get what is missing."""
    return el("p", {"class": "hint"}, *words)


def code(words: str) -> Html:
    """Show a command or a file's name."""
    return el("code", {}, words)


def scrolled(name: str, inside: Html) -> Html:
    """Let something wide scroll by itself, by finger and by keyboard."""
    attributes: Attributes = {
        "class": "scroll",
        "role": "region",
        "aria-label": name,
        "tabindex": 0,
    }
    return el("div", attributes, inside)


def compare_table(corner: str, heads: list[Html], rows: list[Html]) -> Html:
    """Make a table with a column for each run."""
    top = el("tr", {}, el("th", {"scope": "col"}, corner), *heads)
    attributes = {"class": "compare", "style": f"--runs:{len(heads)}"}
    return el("table", attributes, el("thead", {}, top), el("tbody", {}, *rows))
