"""counterpoint embed."""

from typing import TYPE_CHECKING

from counterpoint.cli.early import refuse_early
from counterpoint.cli.parts_file import loaded_parts

if TYPE_CHECKING:
    from counterpoint.vectors import Vectors


def embed_command(
    run: str,
    data: str,
    *,
    out: str,
    map: int | None = None,  # noqa: A002 (the paper's word)
    limit: int | None = None,
    part_size: int | None = None,
    copies: int = 1000,
    device: str | None = None,
    workers: int | None = None,
    parts: str | None = None,
) -> None:
    """Write the vector of every image into a folder, for search and curation.

    Give the same command again if it was stopped: finished parts are not done twice. The folder
    holds Parquet files with the path, the SHA-256, the size, the label and the vector of each
    image; those that cannot be read are listed with the reason.

    Example:
        counterpoint embed runs/photos photos --out vectors

    Args:
        run: Folder of the run whose encoder is used.
        data: Folder or file of images; all splits are embedded.
        out: Folder to write to, or one to continue.
        map: Feature map to take; -1 is the last (default: the last before a projection head).
        limit: Use only the first N images of each split (default: all).
        part_size: Images in one file (default: 1,000, more for more than a million images).
        copies: Also embed copies of N images (saved again, resized, cropped, recoloured), by which
            curate knows how near duplicates are; 0 for none.
        device: Where to compute, such as cpu or cuda:1 (default: an accelerator if there is one).
        workers: Processes that read image files (default: one per core).
        parts: Python file with your own parts, which a run's method names; the file is executed
            (default: none).
    """
    refuse_early(run=run, data=data, out=out, parts=parts)
    from counterpoint.run import Run
    from counterpoint.vectors.embed_parts import EmbedJob

    job = EmbedJob.begin(
        Run.open(run, parts=loaded_parts(parts)),
        data,
        out,
        limit=limit,
        map=map,
        part_size=part_size,
    )
    left = job.left()
    try:
        with job.ready(device):
            job.do(left, workers=workers)
            job.do_copies(copies, workers=workers)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; run the same command again to go on") from None
    _say(job.finish(), len(left))


def _say(made: "Vectors", parts: int) -> None:
    """Say what is there now, and what comes next."""
    from rich.console import Console

    bad = made.unreadable
    console = Console(soft_wrap=True, highlight=False)
    if not parts:
        console.print(f"nothing to do: all {made.record.parts:,} parts are there")
    size = sum(file.stat().st_size for file in made.folder.glob("*.parquet")) / 2**20
    console.print(
        f"{made.count:,} vectors of {made.width} numbers, {size:.1f} MB: [bold]{made.folder}[/]"
    )
    if bad:
        console.print(f"{len(bad):,} images cannot be read, such as {bad[0].path}: {bad[0].error}")
    console.print(f"next: counterpoint search {made.folder} IMAGE, or in Python Vectors.open")
