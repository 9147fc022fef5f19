"""counterpoint export."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from counterpoint.catalogue import EXPORT_ROUTES
from counterpoint.cli.early import refuse_early, refuse_unknown
from counterpoint.cli.encoder_option import given_pixels, refuse_no_encoder
from counterpoint.cli.last_words import last_words
from counterpoint.cli.parts_file import loaded_parts

if TYPE_CHECKING:
    from rich.table import Table

    from counterpoint.export.export_folder import Export


def export_command(
    run: str | None = None,
    *,
    out: str,
    encoder: str | None = None,
    weights: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    size: int | None = None,
    data: str | None = None,
    only: str | None = None,
    twin: bool = False,
    bytes: bool = False,  # noqa: A002 (the user's word)
    licence: str | None = None,
    parts: str | None = None,
) -> None:
    """Write a run's encoder as files for other programs, and prove each in a fresh process.

    What is written: a folder that timm loads (where the network is timm's or torchvision's), one
    that counterpoint.load opens, ONNX, and a program of torch.export. Each is then loaded by
    itself, without Counterpoint where it needs none, and embeds the same images; if a vector
    differs by more than 1e-4 of the largest value, nothing is kept.

    Example:
        counterpoint export runs/photos --out photos-encoder

    Args:
        run: Folder of the run, or its address (default: none, an encoder by --encoder).
        out: Folder to write; it must be empty, or not exist yet.
        encoder: Name of an encoder to export without a run, such as timm/NAME (default: the
            run's, or that of the weights, if they are a run or a timm folder).
        weights: Weights of that encoder: a safetensors file with the key names of its library, a
            timm folder, the folder of a run, or pretrained, which timm downloads (default: none,
            drawn at random).
        mean: Mean of each channel, from 0 to 1, that these weights want, such as 0.5,0.5,0.5
            (default: as the weights or their library say).
        std: Deviation of each channel that they want (default: as for the mean).
        size: Side of the views of that encoder in pixels (default: the weights' own, or 128).
        data: Folder or file of images; the proof embeds 64 of them, and the card shows four with
            their views (default: generated images, and no views).
        only: Any of timm, torchvision, counterpoint, onnx and pt2, separated by commas
            (default: all that the network allows).
        twin: Take the moving average of a momentum method, not the trained encoder.
        bytes: Let the ONNX file and the torch program take bytes and normalise them inside.
        licence: Licence to state in the files, such as apache-2.0 (default: none is stated).
        parts: Python file with your own parts, which the run's method names; the file is executed
            and copied into the folder (default: none).
    """
    refuse_early(run=run, encoder=encoder, weights=weights, data=data, out=out, parts=parts)
    refuse_no_encoder("export", run, encoder, weights)
    pixels = given_pixels(mean, std, weights)
    names = [name.strip() for name in only.split(",")] if only else []
    for name in names:
        refuse_unknown("only", name, EXPORT_ROUTES)
    from rich.console import Console
    from rich.markup import escape

    from counterpoint.data import open_data
    from counterpoint.encoder_choice import open_encoder
    from counterpoint.export.card import CARD
    from counterpoint.export.export_folder import write_export
    from counterpoint.export.proof import BOUND
    from counterpoint.export.routes import refuse_missing
    from counterpoint.export.subject import subject_of
    from counterpoint.report.findings import read_findings

    refuse_missing(names)
    own = loaded_parts(parts)
    console = Console()
    with TemporaryDirectory() as place:  # of a run of zero steps, for the card to read
        bare = None if run is not None else Path(place) / "encoder"
        opened = open_encoder(
            run, encoder=encoder, weights=weights, size=size, parts=own, pixels=pixels, out=bare
        )
        subject = subject_of(
            opened,
            twin=twin,
            parts_file=None if parts is None else Path(parts),
            licence=licence,
            bytes_in=bytes,
        )
        made = write_export(
            subject,
            Path(out),
            only=names,
            source=None if data is None else open_data(data).train,
            findings=None if opened.folder is None else read_findings(opened.folder, parts=own),
            say=lambda words: Console(stderr=True).print(words, style="dim", highlight=False),
        )
    console.print(_table(made))
    console.print(
        "difference: the largest of any vector from the run's, on all images; relative: of the "
        f"largest value, at most {BOUND:g}",
        style="dim",
        highlight=False,
    )
    for name, why in made.left_out.items():
        words = f"left out: {name}, because {why}"
        console.print(words, style="dim", highlight=False, markup=False)
    first = next(iter(made.loading.values()))
    console.print(f"\nTo load it, in [bold]{escape(out)}[/]:\n")
    console.print(first.lines, highlight=False, markup=False, soft_wrap=True)
    last_words(
        f"{Path(out) / CARD} has the lines for every route",
        ["hf", "upload", f"YOU/{Path(out).resolve().name}", out],
    )


def _table(made: "Export") -> "Table":
    from rich.markup import escape
    from rich.table import Table

    from counterpoint.export.routes import ROUTES

    table = Table(
        title=escape(f"{made.folder}: vectors of {made.width:,} numbers"), title_justify="left"
    )
    for heading in ("route", "files", "size", "difference", "relative"):
        table.add_column(heading, justify="left" if heading in ("route", "files") else "right")
    files = {route.name: route.files for route in ROUTES}
    for one in made.differences:
        size = sum((made.folder / file).stat().st_size for file in files[one.route])
        row = (one.route, "\n".join(files[one.route]), f"{size / 1e6:.1f} MB")
        table.add_row(*row, f"{one.absolute:.1e}", f"{one.relative:.1e}")
    return table
