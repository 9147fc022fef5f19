"""counterpoint doctor."""

from counterpoint.cli.early import refuse_early


def doctor_command(data: str, *, limit: int | None = None, json: str | None = None) -> None:
    """Report broken and duplicate images, and suggest a first command for this machine.

    Example:
        counterpoint doctor photos

    Args:
        data: Folder or file of images.
        limit: Use only the first N images of each split (default: all).
        json: File to write the findings to, for programs (default: none).
    """
    refuse_early(data=data)
    from json import dumps
    from pathlib import Path

    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.doctor import doctor_record, examined, package_versions, suggested, tables

    console = Console()
    splits = open_data(data)
    console.print(repr(splits), highlight=False, markup=False, soft_wrap=True)
    seen = examined(splits if limit is None else splits.head(limit), Path(data))
    trained = [found.look for found in seen.images if found.split == "train"]
    suggestion = suggested(splits.train, trained, data)
    installed = package_versions()
    for table in tables(seen, installed, suggestion):
        console.print(table)
    if suggestion is None:
        console.print("no suggestion: too few readable images")
    else:
        console.print(suggestion.command, highlight=False, markup=False, soft_wrap=True)
    if json is not None:
        Path(json).write_text(dumps(doctor_record(seen, installed, suggestion), indent=2) + "\n")
