"""counterpoint curate."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.cli.early import refuse_early
from counterpoint.cli.last_words import chosen_options

if TYPE_CHECKING:
    from rich.table import Table

    from counterpoint.curation.curator import Curation


def curate_command(
    vectors: str,
    *,
    out: str | None = None,
    precision: float = 0.95,
    select: int | None = None,
    seed: int = 0,
) -> None:
    """Find duplicates, leaks between splits, outliers and suspect labels; select what covers.

    Near-duplicates are found at a stated precision, which is fitted to the vectors without labels
    and printed with its interval. Images are neither moved nor deleted: --out gets tables, a page
    with pictures, and a folder of links to the images that are not left out.

    Example:
        counterpoint curate vectors --out curated

    Args:
        vectors: Folder that counterpoint embed wrote.
        out: Folder to write to (default: print the findings only).
        precision: Share of the near-duplicate pairs that are to be right.
        select: Choose N images that cover all, after duplicates are left out (default: none).
        seed: Seed of k-means and of the bootstrap.
    """
    refuse_early(out=out)
    if not Path(vectors).is_dir():
        raise FileNotFoundError(
            f"vectors: there is no folder {vectors}; counterpoint embed RUN DATA --out "
            f"{shlex.quote(vectors)} writes one"
        )
    from rich.console import Console
    from rich.markup import escape

    from counterpoint.curation.curated_folder import refuse_foreign, write_curated
    from counterpoint.curation.curator import curate
    from counterpoint.curation.decisions import KEEP, LOOK, counts, decisions
    from counterpoint.vectors import Vectors

    opened = Vectors.open(vectors)
    if out is not None:
        refuse_foreign(opened, Path(out))
    console = Console(highlight=False, soft_wrap=True)
    console.print(repr(opened), markup=False)
    found = curate(opened, precision=precision, select=select, seed=seed)
    rows = decisions(found)
    console.print(_table(found))
    said = counts(rows)
    console.print(", ".join(f"{word} {number:,}" for word, number in said.items()))
    if out is None:
        console.print("nothing is written; to get the lists, the page and the links:")
        given = {"precision": precision, "select": select, "seed": seed}
        asked = chosen_options(given, {"precision": 0.95, "seed": 0})
        words = ["counterpoint", "curate", vectors, *asked, "--out", "curated"]
        console.print(shlex.join(words), markup=False)
        return
    links = write_curated(found, rows, Path(out))
    lost = said[KEEP] + said[LOOK] - links
    place = escape(str(Path(out)))
    console.print(f"decisions and reasons: [bold]{place}/decisions.csv[/] (and .parquet)")
    console.print(f"pictures: [bold]{place}/gallery.html[/]")
    if lost:
        console.print(
            f"{lost:,} images that stay have no link: their files are not there. If they were "
            "moved, give embed their new folder and the same --out; images in memory, in shards "
            "or in Parquet have no files"
        )
    if links:
        console.print(f"{links:,} links to what stays: [bold]{place}/images[/]")
        words = ["counterpoint", "pretrain", str(Path(out) / "images"), "--out", "runs/curated"]
        console.print(shlex.join(words), markup=False)


def _table(found: "Curation") -> "Table":
    """Show what was found, how sure it is, and what it would miss."""
    from rich.table import Table

    threshold, positives = found.threshold, found.positives
    table = Table("found", "", "", title_justify="left")
    table.add_row("same file", f"{len(found.equal):,}", "")
    sure = (
        f"{threshold.precision:.0%} expected to be right, 95 % interval {threshold.low:.0%} to "
        f"{threshold.high:.0%}"
    )
    table.add_row(
        "near-duplicate pairs",
        f"{threshold.found:,}",
        sure if threshold.found else "no pair is near enough for the stated precision",
    )
    if positives is None:
        table.add_row("", "", "embed made no copies: what is missed is not known")
    else:
        recall = positives.recall(threshold.radius)
        words = ", ".join(f"{kind} {share:.0%}" for kind, share in recall.items())
        table.add_row("", "", f"of recorded copies found: {words}")
    far = len(found.pairs.distance) - len(found.near.distance)
    table.add_row("perhaps duplicates", f"{far:,}", "to look at")
    table.add_row("pairs across splits", f"{len(found.leaks):,}", "")
    table.add_row("outliers", f"{int(found.outliers.sum()):,}", f"closeness below {found.odd:.3f}")
    if found.verdicts is not None:
        table.add_row("suspect labels", f"{len(found.suspects):,}", "the surest come first")
    if found.vectors.unreadable:
        table.add_row("unreadable", f"{len(found.vectors.unreadable):,}", "")
    if found.chosen is not None:
        table.add_row("selected", f"{int(found.chosen.sum()):,}", "")
    return table
