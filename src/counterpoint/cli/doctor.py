"""counterpoint doctor."""

import sys
from typing import TYPE_CHECKING

from counterpoint.cli.early import refuse_early, refuse_no_file

if TYPE_CHECKING:
    from counterpoint.doctor import Suggestion


def doctor_command(
    data: str,
    *,
    encoder: str | None = None,
    weights: str | None = None,
    seconds: float = 30.0,
    limit: int | None = None,
    json: str | None = None,
) -> None:
    """Report broken and duplicate images, and suggest the fastest safe command for this machine.

    Below 10,000 photos it suggests to start from trained weights. It trains for some seconds to
    measure precision, batch and compiling; nothing is written. Of a split of more than two million
    images it looks at two million, drawn evenly.

    Example:
        counterpoint doctor photos

    Args:
        data: Folder or file of images.
        encoder: Encoder to measure and suggest (default: by the number of images and the machine).
        weights: Weights to suggest to start from: a safetensors file, a timm folder or a
            run, which have their encoder, pretrained, or scratch for none (default: by the
            number of images).
        seconds: Seconds to measure for, about; 0 measures only the speed.
        limit: Use only the first N images of each split (default: all).
        json: File to write the findings to, for programs (default: none).
    """
    refuse_early(data=data, encoder=encoder, weights=None if weights == "scratch" else weights)
    if json is not None:
        refuse_no_file("json", json)
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
    if seconds > 0:
        _tell(f"training on this machine for about {seconds:.0f} s, to compare settings")
    suggestion = suggested(
        splits.train,
        trained,
        data,
        encoder=encoder,
        weights=weights,
        seconds=seconds,
        tell=_tell,
    )
    installed = package_versions()
    for table in tables(seen, installed, suggestion):
        console.print(table)
    if seen.partial:
        console.print(
            f"looked at {seen.partial}; most duplicates of such data are found by "
            "counterpoint embed and counterpoint curate",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if suggestion is None:
        console.print("no suggestion: too few readable images")
    else:
        for line in _next(suggestion, data, labels=splits.train.has_labels):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    if json is not None:
        Path(json).write_text(dumps(doctor_record(seen, installed, suggestion), indent=2) + "\n")
        console.print(f"findings: {json}", highlight=False, markup=False, soft_wrap=True)


def _tell(what: str) -> None:
    sys.stderr.write(f"measure {what}\n")


def _next(suggestion: "Suggestion", data: str, *, labels: bool) -> list[str]:
    """Say which command comes next, and what to do without a network."""
    import shlex

    from counterpoint.catalogue import PRETRAINED

    lines = []
    if suggestion.weights is not None and labels:
        words = ["counterpoint", "evaluate"]
        words += ["--encoder", suggestion.encoder] if suggestion.encoder else []
        words += ["--weights", suggestion.weights, "--size", str(suggestion.size), "--data", data]
        words += ["--protocol", "knn,linear"]
        lines += ["how good these weights are already:", f"  {shlex.join(words)}"]
    lines += ["to train:", f"  {suggestion.command}"]
    if suggestion.weights == PRETRAINED:
        lines.append(
            "pretrained is downloaded by timm; without a network give a file: "
            "counterpoint doctor DATA --weights FILE, or --weights scratch to start from none"
        )
    return lines
