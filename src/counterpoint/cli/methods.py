"""counterpoint methods and counterpoint anatomy."""

from counterpoint.cli.early import refuse_early


def methods_command() -> None:
    """List the methods."""
    from rich.console import Console
    from rich.table import Table

    from counterpoint.catalogue import METHODS, VARIANTS

    table = Table("--method", "what it is", title_justify="left")
    for name, what in METHODS.items():
        table.add_row(f"[bold]{name}[/]", what)
    table.add_section()
    for name, what in VARIANTS.items():
        table.add_row(name, what)
    console = Console()
    console.print(table)
    console.print("counterpoint anatomy NAME shows the five parts of one", highlight=False)


def anatomy_command(names: list[str], *, size: int = 32) -> None:
    """Show the five parts of a method, or of several side by side; of all seven by `all`.

    Args:
        names: One or more methods; where they differ is in colour.
        size: Side of the images in pixels.
    """
    for name in () if names == ["all"] else names:
        refuse_early(method=name)
    from rich.console import Console
    from rich.table import Table

    from counterpoint.methods import SEVEN, method_named

    names = SEVEN if names == ["all"] else names
    chosen = [method_named(n, size=size) for n in names]
    rows = list(zip(*(method.rows() for method in chosen), strict=True))
    console = Console()
    if len(names) > 3:  # beside each other they would be too narrow to read
        table = Table("part", "method", "settings", title_justify="left")
        for number, row in enumerate(rows, start=1):
            for place, (name, (part, settings)) in enumerate(zip(names, row, strict=True)):
                heading = "" if place else f"({number}) {part}"
                table.add_row(heading, name, settings, end_section=place == len(names) - 1)
        console.print(table)
        return
    table = Table("part", *names, title_justify="left")
    for number, row in enumerate(rows, start=1):
        cells = [settings for _, settings in row]
        style = "bold yellow" if len(set(cells)) > 1 else None
        table.add_row(f"({number}) {row[0][0]}", *cells, style=style)
    console.print(table)
