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
    """Write one HTML page about a run, or about several side by side.

    Args:
        folders: One or more folders of runs.
        data: Folder of the images, for neighbours, views and a map of the embeddings.
        out: Page to write; it needs no network and no other file.
        limit: Only the first so many images of each split.
        parts: Python file with parts of your own that a run's method names; it is run.
    """
    for folder in folders:
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"run: there is no folder {folder}")
    refuse_early(data=data)
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report import write_report

    splits = None if data is None else open_data(data, limit=limit)
    page = write_report(
        [Path(f) for f in folders], Path(out), data=splits, parts=loaded_parts(parts)
    )
    size = page.stat().st_size / 2**20
    Console().print(f"{len(folders)} run{'s' * (len(folders) > 1)}, {size:.1f} MB: [bold]{page}[/]")
