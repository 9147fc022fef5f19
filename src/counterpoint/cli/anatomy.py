"""counterpoint anatomy."""

from typing import TYPE_CHECKING

from counterpoint.cli.early import refuse_early

if TYPE_CHECKING:
    from rich.table import Table


def anatomy_command(names: list[str], *, size: int = 32) -> None:
    """Show the five parts of one or more methods, side by side; `all` is the family in a table.

    Example:
        counterpoint anatomy simclr moco

    Args:
        names: One or more methods, whose differences are in colour; or `all`: every method a row.
        size: Side of the images in pixels.
    """
    for name in () if names == ["all"] else names:
        refuse_early(method=name)
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from counterpoint.methods import method_named

    console = Console()
    if names == ["all"]:
        console.print(_family_table(size))
        console.print("counterpoint anatomy NAME NAME compares all settings", highlight=False)
        return
    chosen = [method_named(n, size=size) for n in names]
    names = [escape(name) for name in names]
    shown = ([(part, escape(words)) for part, words in method.rows()] for method in chosen)
    rows = list(zip(*shown, strict=True))
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


def _family_table(size: int) -> "Table":
    """Return every method as a row of five kinds of parts, each behind the one that it changes."""
    from rich.table import Table

    from counterpoint.framework.method import FIVE
    from counterpoint.methods import ORIGINS, method_named
    from counterpoint.methods.kinship import family_order, short_parts

    heads = (f"({number}) {part}" for number, part in enumerate(FIVE, start=1))
    table = Table("method", "year", *heads, title_justify="left")
    for generation, name in family_order(ORIGINS):
        kinds = short_parts(method_named(name, size=size))
        indent = "  " * (generation - 1) + "└ " if generation else ""
        table.add_row(f"{indent}[bold]{name}[/]", str(ORIGINS[name].year), *kinds)
    return table
