"""The page of a curation: groups of duplicates side by side, leaks, odd images, suspect labels."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from counterpoint.curation.curator import Curation
from counterpoint.curation.decisions import LEAVE_OUT, Decision, counts
from counterpoint.data import UnreadableImageError
from counterpoint.data.packed_names import shown
from counterpoint.report.gallery_page import (
    PageTop,
    copied_lines,
    gallery_page,
    picture_figure,
)
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section
from counterpoint.report.thumbnails import data_uri, thumbnail

SHOWN = 60  # groups or images of a section: a page of a few MB; the table has all
MEMBERS = 8  # of a group
SIDE = 192  # pixels of a picture


def curation_page(found: Curation, rows: Sequence[Decision]) -> str:
    """Return one HTML page that shows why each image is left out or worth a look."""
    page = _Pictures(found, {row.sample: row for row in rows})
    made = (page.duplicates(), page.leaks(), page.doubtful(), page.labels(), page.outliers())
    return gallery_page(_top(found, rows), [section for section in made if section is not None])


def _top(found: Curation, rows: Sequence[Decision]) -> PageTop:
    said, threshold = counts(list(rows)), found.threshold
    within = f"{threshold.low:.0%} to {threshold.high:.0%}"
    lead = (
        f"{said['leave out']:,} of {len(rows):,} images can be left out, "
        f"{said['look']:,} are worth a look. Nothing was moved or deleted."
    )
    duplicates = (f"{threshold.found:,}", "near-duplicate pairs", f"{within} of them right")
    tiles = [
        (f"{len(rows):,}", "images", ""),
        (f"{len(found.equal):,}", "copies of equal files", ""),
        duplicates if threshold.found else ("0", "near-duplicate pairs", ""),
        (f"{len(found.leaks):,}", "pairs across splits", "leaks"),
        (f"{int(found.outliers.sum()):,}", "outliers", ""),
    ]
    if found.verdicts is not None:
        tiles.append((f"{len(found.suspects):,}", "suspect labels", ""))
    if found.chosen is not None:
        tiles.append((f"{int(found.chosen.sum()):,}", "selected", "to cover the rest"))
    folder = shown(os.fsencode(found.vectors.folder))
    about = f"{folder} · {found.vectors.record.encoder['name']}"
    return PageTop("curate", Path(folder).name, lead, about, tiles)


class _Pictures:
    """Makes the sections; every picture is decoded once."""

    def __init__(self, found: Curation, rows: dict[int, Decision]) -> None:
        self.found, self.rows = found, rows
        self.made: dict[int, str | None] = {}
        self.samples: list[int] = found.vectors.samples.tolist()

    def duplicates(self) -> Section | None:
        groups: dict[int, list[Decision]] = defaultdict(list)
        for row in self.rows.values():
            if row.group is not None:
                groups[row.group].append(row)
        if not groups:
            return None
        order = sorted(groups.values(), key=lambda g: min(r.distance or 0.0 for r in g))
        gone = [row for group in order for row in group if row.duplicate_of is not None]
        shown = [el("li", {}, *self._group(group)) for group in order[:SHOWN]]
        words = (
            f"{len(gone):,} images in {len(groups):,} groups have a duplicate that is kept: the "
            "one of the test split, or else the one with more pixels, or bytes. "
        )
        return Section(
            "duplicates",
            "Duplicates",
            join(
                [
                    el("p", {}, words, _more(len(order))),
                    el("ul", {"class": "groups"}, *shown),
                    copied_lines([_path(row) for row in gone], f"{len(gone):,} paths left out"),
                ]
            ),
        )

    def leaks(self) -> Section | None:
        pairs = self.found.leaks.tolist()
        if not pairs:
            return None
        shown = [el("li", {}, *map(self._figure, self._both(pair))) for pair in pairs[:SHOWN]]
        words = "The same picture in two splits: what is measured on it is too good. "
        body = [el("p", {}, words, _more(len(pairs))), el("ul", {"class": "groups"}, *shown)]
        return Section("leaks", "Leaks between splits", join(body))

    def doubtful(self) -> Section | None:
        found = self.found
        far = found.pairs.distance > found.threshold.radius
        if not bool(far.any()):
            return None
        order = found.pairs.distance[far].argsort()
        pairs = found.pairs.ends[far][order].tolist()
        sure = found.confidence[far][order].tolist()
        shown = [
            el("li", {}, *map(self._figure, self._both(pair)), el("p", {}, _share(share)))
            for pair, share in zip(pairs[:SHOWN], sure, strict=False)
        ]
        words = "Too far apart to be called duplicates at the stated precision; both are kept. "
        body = [el("p", {}, words, _more(len(pairs))), el("ul", {"class": "groups"}, *shown)]
        return Section("doubtful", "Perhaps duplicates", join(body))

    def labels(self) -> Section | None:
        suspects = [self.rows[self.samples[row]] for row in self.found.suspects.tolist()]
        words = "The nearest images have another label. The surest come first. "
        return self._list("labels", "Suspect labels", words, suspects)

    def outliers(self) -> Section | None:
        odd = self.found.outliers.nonzero().flatten()
        order = odd[self.found.closeness[odd].argsort()].tolist()
        rows = [self.rows[self.samples[row]] for row in order]
        words = "Far from all others: broken, rare, or of another kind. The farthest come first. "
        return self._list("outliers", "Outliers", words, rows)

    def _list(self, key: str, title: str, words: str, rows: Sequence[Decision]) -> Section | None:
        if not rows:
            return None
        shown = [el("li", {}, self._figure(row)) for row in rows[:SHOWN]]
        body = [
            el("p", {}, words, _more(len(rows))),
            el("ul", {"class": "groups tight"}, *shown),
            copied_lines([_path(row) for row in rows], f"{len(rows):,} paths"),
        ]
        return Section(key, title, join(body))

    def _both(self, pair: Sequence[int]) -> list[Decision]:
        return [self.rows[self.samples[row]] for row in pair]

    def _group(self, group: Sequence[Decision]) -> Iterator[Html]:
        """Show the kept ones first; of many only some."""
        order = sorted(group, key=lambda row: (row.duplicate_of is not None, row.sample))
        yield from map(self._figure, order[:MEMBERS])
        if len(order) > MEMBERS:
            yield el("p", {}, f"and {len(order) - MEMBERS:,} more")

    def _figure(self, row: Decision) -> Html:
        gone = row.duplicate_of is not None
        word = LEAVE_OUT if gone else "not selected" if row.decision == LEAVE_OUT else row.decision
        name = _path(row)
        folder, _, file = name.rpartition("/")
        words: list[Html | str] = [
            el("b", {}, word),
            el("span", {"class": "file", "title": name}, file),
            el("span", {"class": "file"}, " · ".join(filter(None, [folder, row.split]))),
        ]
        if row.looks_like is not None:
            words.append(el("span", {}, f"labelled {row.label}, looks like {row.looks_like}"))
        kind = "gone" if gone else "kept"
        return picture_figure(self._uri(row.sample), kind=kind, alt=name, words=words)

    def _uri(self, sample: int) -> str | None:
        if sample not in self.made:
            stored = self.found.vectors.picture(sample)
            try:
                made = None if stored is None else data_uri(thumbnail(stored, side=SIDE))
            except UnreadableImageError:
                made = None  # it was changed since it was embedded
            self.made[sample] = made
        return self.made[sample]


def _path(row: Decision) -> str:
    return row.path or f"sample {row.sample}"


def _share(confidence: float) -> str:
    return f"{confidence:.0%} of all pairs this near are expected to be duplicates"


def _more(count: int) -> str:
    return f"The first {SHOWN} of {count:,}; decisions.csv has all." if count > SHOWN else ""
