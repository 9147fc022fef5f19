"""counterpoint anatomy."""

from counterpoint.cli.early import refuse_early


def anatomy_command(names: list[str], *, size: int = 32) -> None:
    """Show the five parts of one or more methods, side by side.

    Example:
        counterpoint anatomy simclr moco

    Args:
        names: One or more methods, or `all` for the seven of the paper; differences are in colour.
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
    if len(names) > 3:  # side by side they would be too narrow to read
        table = Table("part", "method", "settings", title_justify="left")
        for number, row in enumerate(rows, start=1):
            for position, (name, (part, settings)) in enumerate(zip(names, row, strict=True)):
                heading = "" if position else f"({number}) {part}"
                table.add_row(heading, name, settings, end_section=position == len(names) - 1)
        console.print(table)
        return
    table = Table("part", *names, title_justify="left")
    for number, row in enumerate(rows, start=1):
        cells = [settings for _, settings in row]
        style = "bold yellow" if len(set(cells)) > 1 else None
        table.add_row(f"({number}) {row[0][0]}", *cells, style=style)
    console.print(table)
