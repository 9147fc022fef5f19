"""counterpoint views."""

from pathlib import Path

from counterpoint.cli.early import refuse_early
from counterpoint.cli.last_words import last_words


def views_command(
    data: str,
    *,
    method: str = "simclr",
    out: str = "views.png",
    images: int = 6,
    epochs: int = 2,
    size: int | None = None,
    seed: int = 0,
) -> None:
    """Save a contact sheet: images, and the views that a method draws of them.

    Example:
        counterpoint views photos --method simclr --out views.png

    Args:
        data: Folder or file of images.
        method: Name of a method, or a method.json.
        out: Image file to write; the extension chooses the format.
        images: Number of images, drawn at random from all.
        epochs: Number of epochs to draw views for.
        size: Side of the views in pixels (default: 128 for image files, else that of the images).
        seed: Seed of the views and of the choice of images.
    """
    refuse_early(data=data, method=method)
    file = _picture(out)
    from rich.console import Console
    from rich.markup import escape

    from counterpoint.data import open_data, sample_images, view_side
    from counterpoint.methods import views_named
    from counterpoint.report import contact_sheet

    source = open_data(data).train
    side = view_side(source, size=size)
    views = views_named(method, size=side)
    some = sample_images(source, images, seed=seed)
    title = f"{method}: views of {source.name}, {side} pixels"
    sheet = contact_sheet(views, some, title=title, seed=seed, epochs=epochs)
    sheet.save(file, optimize=True)
    said = escape(f"{views}\n{len(some)} images, {epochs} epochs:")
    Console().print(f"{said} [bold]{escape(str(out))}[/]")
    last_words("", ["counterpoint", "pretrain", data, "--method", method, "--out", "runs/first"])


def _picture(out: str) -> Path:
    """Create the folder of an image file; refuse other names before anything is drawn."""
    from PIL import Image

    file = Path(out)
    if file.suffix.lower() not in Image.registered_extensions():
        raise ValueError(f"--out is {out!r}; it needs the name of an image file, such as views.png")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
