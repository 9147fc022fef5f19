"""What the doctor found, for people."""

from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from counterpoint.doctor.comparison import WayComparison
from counterpoint.doctor.examination import LEVELS, Examination
from counterpoint.doctor.packages import Version
from counterpoint.doctor.suggestion import Suggestion

SHOWN = 20  # broken files that are listed; all of them are in the JSON
PRECISIONS = {"32-true": "fp32", "bf16-mixed": "bf16", "64-true": "fp64"}
GROUPS = 5  # groups of duplicates that are listed


def tables(
    seen: Examination, versions: Sequence[Version], suggestion: Suggestion | None
) -> Iterator[Table]:
    """Return one table per question, readable at 80 columns.

    >>> from counterpoint.data import open_data
    >>> from counterpoint.doctor.examination import examined
    >>> seen = examined(open_data(photos_folder), photos_folder)
    >>> [table.title for table in tables(seen, (), None)]
    ['images', 'unreadable: 0 of 24', 'duplicates', 'versions']
    """
    yield _there(seen)
    yield _broken(seen)
    yield _twice(seen)
    yield _versions(versions)
    if suggestion is not None and suggestion.comparison is not None:
        yield _measured(suggestion.comparison)
    if suggestion is not None:
        yield _suggestion(suggestion)


def _table(title: str, *columns: str) -> Table:
    wide = max(len(title) + 4, 40)  # a title is never folded
    return Table(
        *columns, title=title, title_justify="left", show_header=bool(columns), min_width=wide
    )


def _there(seen: Examination) -> Table:
    table = _table("images", "", *(f"{level} %" for level in LEVELS))
    for name, levels in seen.sizes().items():
        table.add_row(name, *(f"{level:,}" for level in levels))
    for name, counts in (("format", seen.formats()), ("colour", seen.colours())):
        words = ", ".join(f"{kind} {count:,}" for kind, count in counts.most_common())
        table.caption = f"{table.caption or ''}{name}: {words}\n"
    table.caption_justify = "left"
    return table


def _broken(seen: Examination) -> Table:
    broken, shut = seen.broken, seen.shut
    table = _table(f"unreadable: {len(broken):,} of {len(seen.images):,}")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    kinds = sorted({kind for _, kind in broken})
    for kind in kinds:
        table.add_row(kind, f"{sum(k == kind for _, k in broken):,}", end_section=kind == kinds[-1])
    for name, kind in broken[:SHOWN]:
        table.add_row(kind, escape(name))
    if len(broken) > SHOWN:
        table.add_row("", f"and {len(broken) - SHOWN:,} more: --json lists all")
    for name in shut:
        table.add_row("no permission", f"the folder {escape(name)}")
    if not broken and not shut:
        table.add_row("", "none")
    return table


def _twice(seen: Examination) -> Table:
    table = _table("duplicates")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for words, groups in (("identical", seen.copies), ("look alike", seen.alike)):
        images = sum(len(group) for group in groups)
        across = seen.across(groups)
        more = f", {across:,} in more than one split" if across else ""
        many = "group" if len(groups) == 1 else "groups"
        table.add_row(words, f"{images:,} images in {len(groups):,} {many}{more}")
        for group in groups[:GROUPS]:
            names = [escape(seen.images[place].name) for place in group]
            table.add_row("", ", ".join(names[:3]) + (", ..." if len(names) > 3 else ""))
        if len(groups) > GROUPS:
            table.add_row("", f"and {len(groups) - GROUPS:,} more: --json lists all")
    return table


def _versions(versions: Sequence[Version]) -> Table:
    table = _table("versions", "package", "version", "")
    for version in versions:
        verdict = f"[bold red]{version.wrong}[/]" if version.wrong else "[green]ok[/]"
        table.add_row(version.name, version.found, verdict)
    return table


def _measured(comparison: WayComparison) -> Table:
    table = _table("measured on this machine", "batch", "precision", "images/s", "memory", "")
    for verdict in comparison.verdicts:
        way = verdict.way
        table.add_row(
            f"{way.batch}",
            PRECISIONS[way.precision] + (", compiled" if way.compiled else ""),
            f"{way.speed:.3g}",
            f"{way.memory / 2**30:.1f} GiB",
            f"[green]{verdict.why or 'taken'}[/]" if verdict.taken else verdict.why,
        )
    table.caption, table.caption_justify = escape(comparison.note), "left"
    return table


def _suggestion(suggestion: Suggestion) -> Table:
    table = _table("suggested for this machine")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in suggestion.rows().items():
        table.add_row(name, escape(value))
    return table
