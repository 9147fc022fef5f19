"""counterpoint evaluate."""

import sys
from collections.abc import Mapping
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

from counterpoint.catalogue import PROBES
from counterpoint.cli.early import refuse_early, refuse_unknown
from counterpoint.cli.encoder_option import encoder_words, given_pixels, refuse_no_encoder
from counterpoint.cli.last_words import last_words
from counterpoint.run_files import EVALUATION

if TYPE_CHECKING:
    from counterpoint.data import Splits
    from counterpoint.run import Run


def evaluate_command(
    folder: str | None = None,
    *,
    data: str,
    encoder: str | None = None,
    weights: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    size: int | None = None,
    out: str | None = None,
    protocol: str = "knn,linear,mlp",
    labels: str = "1",
    seeds: int = 1,
    seed: int = 0,
    before: bool = True,
    robustness: int = 0,
    map: int | None = None,  # noqa: A002 (the paper's word)
    limit: int | None = None,
    device: str | None = None,
    workers: int | None = None,
) -> None:
    """Measure a run's encoder: choose on validation images, score once on test images.

    Without a run, --encoder and --weights measure an encoder that you already have.

    Example:
        counterpoint evaluate runs/photos --data photos --protocol knn,linear

    Args:
        folder: Folder of the run, or its address (default: none, an encoder by --encoder).
        data: Folder or file of images, with labels.
        encoder: Name of an encoder to measure without a run, such as timm/NAME (default: the
            run's, or that of the weights, if they are a run or a timm folder).
        weights: Weights of that encoder: a safetensors file with the key names of its library, a
            timm folder, the folder of a run, or pretrained, which timm downloads (default: none,
            drawn at random).
        mean: Mean of each channel, from 0 to 1, that these weights want, such as 0.5,0.5,0.5
            (default: as the weights or their library say).
        std: Deviation of each channel that they want (default: as for the mean).
        size: Side of the views of that encoder in pixels (default: the weights' own, or 128).
        out: Folder to keep that encoder and its accuracies in, as a run of zero steps
            (default: print them only).
        protocol: Any of knn, linear, mlp and finetune, separated by commas.
        labels: Fractions of the training labels, such as 0.01,0.1,1.
        seeds: Repetitions of the probes that depend on a seed.
        seed: The first of these seeds.
        before: Also measure what the run started from, so that the gain is known; by every probe of
            the frozen encoder, and once only for the same images.
        robustness: Also classify N test images under every corruption and shift.
        map: Feature map to probe; -1 is the last (default: the last before a projection head).
        limit: Use only the first N images of each split (default: all).
        device: Where to compute, such as cpu or cuda:1 (default: an accelerator if there is one).
        workers: Processes that read image files (default: one per core).
    """
    refuse_early(run=folder, encoder=encoder, weights=weights, data=data, out_run=out)
    refuse_no_encoder("evaluate", folder, encoder, weights)
    pixels = given_pixels(mean, std, weights)
    shares = _shares(labels)
    probes = [name.strip() for name in protocol.split(",")]
    for name in probes:
        refuse_unknown("protocol", name, PROBES)
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.encoder_choice import open_encoder, seen_words
    from counterpoint.report.probe_table import probe_table
    from counterpoint.run import steps_done

    run = open_encoder(folder, encoder=encoder, weights=weights, size=size, pixels=pixels, out=out)
    if folder is None:
        sys.stderr.write(f"counterpoint: {seen_words(run)}\n")
    splits = open_data(data, limit=limit)
    how: dict[str, Any] = {
        "probes": probes,
        "fractions": shares,
        "seeds": seeds,
        "seed": seed,
        "map": map,
        "device": device,
        "workers": workers,
    }
    result = run.evaluate(splits, robust=robustness, **how)
    trained = folder is not None and run.folder is not None and steps_done(run.folder) != 0
    start = _start(run, splits, how) if before and trained else None
    console = Console()
    console.print(
        probe_table(result, title=folder or encoder_words(encoder, weights), before=start)
    )
    _end(folder or out, data, encoder=encoder, weights=weights, size=size)


def _start(
    run: "Run", splits: "Splits", how: Mapping[str, Any]
) -> dict[tuple[str, float], float] | None:
    """Measure what a run started from; None, and a line that says why, where it cannot be."""
    from counterpoint.run_start import accuracies, measure_start

    try:
        return accuracies(measure_start(run, splits, **how))
    except ValueError as error:
        sys.stderr.write(f"counterpoint: {error}; --before false does not ask\n")
        return None


def _end(folder: str | None, data: str, **bare: object) -> None:
    """Say where the figures are, and which command shows more or uses the encoder."""
    given = [(f"--{name}", value) for name, value in bare.items() if value is not None]
    report = ["counterpoint", "report", *([folder] if folder else []), "--data", data]
    last_words(
        f"figures in {folder}/{EVALUATION}" if folder else "",
        [*report, *(() if folder else chain.from_iterable(given)), "--out", "report.html"],
        *([["counterpoint", "embed", folder, data, "--out", "vectors"]] if folder else []),
    )


def _shares(text: str) -> list[float]:
    """Read fractions of the labels.

    >>> _shares("0.01, 1")
    [0.01, 1.0]
    """
    try:
        shares = [float(share) for share in text.split(",")]
    except ValueError:
        shares = [nan]
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(
            f"--labels is {text!r}; it needs fractions of the labels, such as 0.01,0.1,1"
        )
    return shares
