"""counterpoint methods."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

LAST = (
    "NAME-small is the method for minutes on two cores: simclr-small",
    "counterpoint anatomy NAME shows the five parts of a method",
)


def methods_command() -> None:
    """List the methods by name: the paper's seven first, then others by what is new in them.

    Example:
        counterpoint methods
    """
    from rich.console import Console
    from rich.table import Table

    from counterpoint.catalogue import METHOD_GROUPS, PRINTED

    table = Table("--method", "what it is", title_justify="left")
    for title, names in METHOD_GROUPS.items():
        _add_group(table, title, names)
    _add_group(table, "other readings", PRINTED)
    console = Console()
    console.print(table)
    for line in LAST:
        console.print(line, highlight=False)


def _add_group(table: "Table", title: str, names: dict[str, str]) -> None:
    """Add the rows of a group under its title."""
    table.add_section()
    table.add_row("", f"[dim]{title}[/]")
    for name, what in names.items():
        table.add_row(f"[bold]{name}[/]", what)
