"""counterpoint check."""

import sys

from counterpoint.cli.early import refuse_early
from counterpoint.cli.parts_file import loaded_parts


def check_command(
    method: str, *, size: int = 32, batch_size: int = 16, parts: str | None = None
) -> None:
    """Check a method: gradients, precision, ranks, learning, size and cost.

    Example:
        counterpoint check simclr-small --size 32

    Args:
        method: Name of a method, or a method.json.
        size: Side of the images in pixels.
        batch_size: Images in the batch that is tried.
        parts: Python file with your own parts, which the method.json names; the file is executed
            (default: none).
    """
    refuse_early(method=method, parts=parts)
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from counterpoint.checking import check
    from counterpoint.methods import method_named

    console = Console()
    chosen = method_named(method, size=size, parts=loaded_parts(parts))
    table = Table("", "check", "found", title=escape(f"check {method}"), title_justify="left")
    well = True
    with console.status("checking ..."):
        for verdict in check(chosen, (3, size, size), count=batch_size, parts=parts):
            mark = "[green]ok[/]" if verdict.well else "[bold red]no[/]"
            table.add_row(mark, escape(verdict.name), escape(verdict.found))
            well = well and verdict.well
    console.print(str(chosen), highlight=False, markup=False, soft_wrap=True)
    console.print(table)
    sys.exit(0 if well else 1)
