"""counterpoint report."""

from pathlib import Path
from tempfile import TemporaryDirectory

from counterpoint.cli.early import refuse_early, refuse_store
from counterpoint.cli.encoder_option import refuse_no_encoder
from counterpoint.cli.last_words import last_words
from counterpoint.cli.parts_file import loaded_parts


def report_command(
    folders: list[str] | None = None,
    *,
    data: str | None = None,
    encoder: str | None = None,
    weights: str | None = None,
    size: int | None = None,
    out: str = "report.html",
    limit: int | None = None,
    parts: str | None = None,
) -> None:
    """Write one HTML page about one or more runs.

    Example:
        counterpoint report runs/photos --data photos --out report.html

    Args:
        folders: Folder of a run or its address, or several to compare (default: none, an encoder
            by --encoder).
        data: Folder or file of images, to show neighbours, views and a map of the embeddings
            (default: leave these out).
        encoder: Name of an encoder to show without a run, such as timm/NAME (default: that of the
            weights, if they are a run or a timm folder).
        weights: Weights of that encoder: a safetensors file with the key names of its library, a
            timm folder, the folder of a run, or pretrained, which timm downloads (default: none,
            drawn at random).
        size: Side of the views of that encoder in pixels (default: the weights' own, or 128).
        out: Page to write; it needs no network and no other file.
        limit: Use only the first N images of each split (default: all).
        parts: Python file with your own parts, which a run's method names; the file is executed
            (default: none).
    """
    given = folders or []
    for folder in given:
        refuse_early(started=folder)
    refuse_store(out)
    refuse_early(data=data, encoder=encoder, weights=weights, parts=parts)
    refuse_no_encoder("report", given, encoder, weights)
    from counterpoint.data import open_data
    from counterpoint.encoder_choice import open_encoder
    from counterpoint.report import write_report
    from counterpoint.training.run_store.run_copy import local_run

    splits = None if data is None else open_data(data, limit=limit)
    own = loaded_parts(parts)
    with TemporaryDirectory() as place:
        runs = [local_run(folder) for folder in given]
        if encoder or weights:  # a run of zero steps beside the others
            bare = Path(place) / Path(encoder or weights or "").name
            open_encoder(encoder=encoder, weights=weights, size=size, parts=own, out=bare)
            runs.append(bare)
        page = write_report(runs, Path(out), data=splits, parts=own)
    megabytes = page.stat().st_size / 2**20
    said = f"{len(runs)} run{'s' * (len(runs) > 1)}, {megabytes:.1f} MB"
    _end(f"{said}: {page}", given, data)


def _end(made: str, folders: list[str], data: str | None) -> None:
    """Say where the page is, and what the encoder can be used for."""
    if not folders:
        last_words(made)
    elif data is None:
        last_words(made, ["counterpoint", "report", *folders, "--data", "FOLDER"])
    else:
        last_words(made, ["counterpoint", "embed", folders[0], data, "--out", "vectors"])
