"""counterpoint views."""


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
    """Print a contact sheet: images, the views that a method draws of them, and how.

    Args:
        data: Folder of the images.
        method: Name of a method, or a method.json.
        out: Picture to write, a PNG by its name, or another format.
        images: How many images, drawn from all of them.
        epochs: How many epochs' views of each.
        size: Side of the views of image files, in pixels; 128 if not given.
        seed: Seed of the views and of the choice of images.
    """
    from rich.console import Console

    from counterpoint.data import image_shape, open_data, sample_images
    from counterpoint.methods import views_named
    from counterpoint.report import contact_sheet

    source = open_data(data).train
    side = image_shape(source, size=size)[-1]
    views = views_named(method, size=side)
    some = sample_images(source, images, seed=seed)
    title = f"{method}: views of {source.name}, {side} pixels"
    sheet = contact_sheet(views, some, title=title, seed=seed, epochs=epochs)
    sheet.save(out, optimize=True)
    Console().print(f"{views}\n{len(some)} images, {epochs} epochs: [bold]{out}[/]")
