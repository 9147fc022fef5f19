"""counterpoint encoders."""


def encoders_command(search: str | None = None, *, limit: int = 40) -> None:
    """List the encoders by name, or search the names of timm's.

    Example:
        counterpoint encoders vit_tiny

    Args:
        search: Part of a timm name, such as vit_tiny (default: list our own names).
        limit: Show at most N of timm's names.
    """
    from rich.console import Console
    from rich.table import Table

    from counterpoint.catalogue import ENCODERS, TIMM, timm_names

    console = Console()
    if search is None:
        table = Table("--encoder", "parameters", "what it is", title_justify="left")
        for name, (parameters, what) in ENCODERS.items():
            table.add_row(name, parameters, what)
        table.add_row(f"{TIMM}NAME", "", "any of timm's: counterpoint encoders PART")
        console.print(table)
        return
    part = search.removeprefix(TIMM)
    found = [name for name in timm_names() if part in name]
    if not found:
        from counterpoint.spelling import did_you_mean

        near = did_you_mean(part, timm_names(), limit=3)
        raise ValueError(f"encoder: no timm name contains {search!r}; {near}".rstrip("; "))
    for name in found[:limit]:
        console.print(TIMM + name, highlight=False)
    if len(found) > limit:
        console.print(f"... and {len(found) - limit} more; --limit {len(found)} shows all")
