"""counterpoint report."""

from pathlib import Path

from counterpoint.cli.early import refuse_early
from counterpoint.cli.parts_file import loaded_parts


def report_command(
    folders: list[str],
    *,
    data: str | None = None,
    out: str = "report.html",
    limit: int | None = None,
    parts: str | None = None,
) -> None:
    """Write one HTML page about one or more runs.

    Example:
        counterpoint report runs/photos --data photos --out report.html

    Args:
        folders: Folder of a run, or of several to compare.
        data: Folder or file of images, to show neighbours, views and a map of the embeddings
            (default: leave these out).
        out: Page to write; it needs no network and no other file.
        limit: Use only the first N images of each split (default: all).
        parts: Python file with your own parts, which a run's method names; the file is executed
            (default: none).
    """
    for folder in folders:
        refuse_early(started=folder)
    refuse_early(data=data, parts=parts)
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report import write_report

    splits = None if data is None else open_data(data, limit=limit)
    page = write_report(
        [Path(f) for f in folders], Path(out), data=splits, parts=loaded_parts(parts)
    )
    size = page.stat().st_size / 2**20
    Console().print(f"{len(folders)} run{'s' * (len(folders) > 1)}, {size:.1f} MB: [bold]{page}[/]")
