"""counterpoint encoders."""


def encoders_command(search: str | None = None, *, most: int = 40) -> None:
    """List the encoders by name; a word looks among those of timm.

    Args:
        search: Part of a name of timm's, such as vit_tiny.
        most: How many of timm's names to show.
    """
    from rich.console import Console
    from rich.table import Table

    from counterpoint.catalogue import ENCODERS, TIMM

    console = Console()
    if search is None:
        table = Table("--encoder", "", title_justify="left")
        for name, what in ENCODERS.items():
            table.add_row(name, what)
        table.add_row(f"{TIMM}NAME", "any of timm's: counterpoint encoders vit_tiny")
        console.print(table)
        return
    import timm

    found = timm.list_models(f"*{search.removeprefix(TIMM)}*")
    if not found:
        from counterpoint.spelling import did_you_mean

        near = did_you_mean(search.removeprefix(TIMM), timm.list_models(), most=3)
        raise ValueError(f"encoder: timm has no name with {search!r} in it; {near}".rstrip("; "))
    for name in found[:most]:
        console.print(TIMM + name, highlight=False)
    if len(found) > most:
        console.print(f"... and {len(found) - most} more; --most {len(found)} shows all")
