"""What the page of a search is made from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import is_known
from counterpoint.design.confirmed import Compared
from counterpoint.design.evolution import Judged, ranked
from counterpoint.design.judging import validation
from counterpoint.design.searched import Searched
from counterpoint.methods.kinship import part_distance
from counterpoint.report.markup import Html, el
from counterpoint.study.outcome import Outcome

FINGERPRINT = re.compile(r"\b[0-9a-f]{16}\b")
NAME_DIGITS = 8
"""Of the sixteen of a fingerprint, those that name a candidate on the page."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignMaterial:
    """A search, the order of its candidates, and its confirmation where there is one."""

    found: Searched
    folder: str
    """The folder's own name, without the path to it: reports are passed on."""
    again: str
    """The command that makes the search again."""
    candidates: dict[str, Candidate]
    """By fingerprint, in the order of the rounds."""
    born: dict[str, int]
    """The number of the round that each is of."""
    standings: tuple[dict[str, float], ...]
    """For each rung."""
    order: tuple[Judged, ...]
    """The candidates that did not fail or collapse, the best first."""
    known: tuple[Candidate, ...] = ()
    """The known methods, to say what is new in what was found."""
    compared: Sequence[Compared] = field(default=())
    tuned: bool = False
    """Whether the rates of the rivals were chosen on validation images."""

    @property
    def best(self) -> Judged | None:
        return self.order[0] if self.order else None

    @property
    def probes(self) -> list[str]:
        """The names of the labelled figures that were recorded."""
        return [validation(probe) for probe in self.found.settings.probes]

    def on_rung(self, rung: int) -> dict[str, Outcome]:
        """Return what was found on a rung, by fingerprint."""
        return {name: o for (name, at), o in self.found.outcomes.items() if at == rung}

    def watched(self) -> list[Mapping[str, Mapping[str, float]]]:
        """Return for each rung the labelled figures of every candidate."""
        return [
            {
                name: {p: o.figures[p] for p in self.probes if p in o.figures}
                for name, o in self.on_rung(rung).items()
            }
            for rung in range(len(self.standings))
        ]

    def name_of(self, candidate: Candidate) -> str:
        """Name a candidate: a known method by its name, any other by its first digits."""
        return candidate.change if is_known(candidate) else candidate.fingerprint[:NAME_DIGITS]


def material_of(
    found: Searched,
    *,
    folder: str,
    again: str,
    known: Sequence[Candidate] = (),
    compared: Sequence[Compared] = (),
    tuned: bool = False,
) -> DesignMaterial:
    """Order what a search found."""
    rounds = [{c.fingerprint: c for c in made.candidates} for made in found.rounds]
    return DesignMaterial(
        found=found,
        folder=folder,
        again=again,
        candidates={name: one for made in rounds for name, one in made.items()},
        born={name: number for number, made in enumerate(rounds) for name in made},
        standings=tuple(found.standing(rung.number) for rung in found.settings.rungs),
        order=tuple(ranked(found.judged())),
        known=tuple(known),
        compared=compared,
        tuned=tuned,
    )


def change_words(candidate: Candidate) -> str:
    """Say what is different from the parents, which go by their names on the page.

    >>> from counterpoint.methods import simclr_small
    >>> one = Candidate(method=simclr_small(), training=(), change="loss of 9a62734073307169")
    >>> change_words(one)
    'loss of 9a627340'
    """
    return FINGERPRINT.sub(lambda found: found[0][:NAME_DIGITS], candidate.change)


def nearest_known(candidate: Candidate, known: Sequence[Candidate]) -> Candidate | None:
    """Return the known method with the fewest parts of another kind; of several the first.

    Where the candidate is one of them, it is its own nearest.

    >>> from counterpoint.methods import byol_small, simclr_small
    >>> simclr, byol = (
    ...     Candidate(method=make(), training=(), change=make.__name__)
    ...     for make in (simclr_small, byol_small)
    ... )
    >>> nearest_known(simclr, [byol, simclr]).change
    'simclr_small'
    """
    own = [one for one in known if one.fingerprint == candidate.fingerprint]
    return min(
        own or known, key=lambda one: part_distance(one.method, candidate.method), default=None
    )


def figures_table(name: str, heads: Sequence[str], rows: Sequence[Sequence[Html]]) -> Html:
    """Make a table of figures; each row is its cells, the first of them a heading."""
    top = el("tr", {}, *(el("th", {"scope": "col"}, head) for head in heads))
    body = [el("tr", {}, *cells) for cells in rows]
    caption = el("caption", {"class": "unseen"}, name)
    attributes = {"class": "figures"}
    return el("table", attributes, caption, el("thead", {}, top), el("tbody", {}, *body))


def row_head(words: Html | str) -> Html:
    """Write the heading of a row, which may be long."""
    return el("th", {"scope": "row", "class": "long"}, words)


def cell(words: Html | str | int) -> Html:
    """Write one cell of a table."""
    return el("td", {}, words)


def signed(value: float | None, digits: int, unit: str = "") -> Html:
    """Write a difference with its sign, green or red by it; a dash where there is none.

    >>> signed(0.25, 2)
    '<td class="up">+0.25</td>'
    """
    if value is None:
        return cell("\u2013")
    words = f"{value:+.{digits}f}{unit}".replace("-", "\u2212")
    level = float(f"{value:.{digits}f}") == 0
    return el("td", {"class": None if level else "up" if value > 0 else "down"}, words)
