"""counterpoint methods."""


def methods_command() -> None:
    """List the methods by name.

    Example:
        counterpoint methods
    """
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
    console.print("counterpoint anatomy NAME shows the five parts of a method", highlight=False)
