"""counterpoint evaluate."""

from counterpoint.catalogue import PROBES
from counterpoint.cli.early import refuse_early, refuse_unknown


def evaluate_command(
    folder: str,
    *,
    data: str,
    protocol: str = "knn,linear,mlp",
    labels: str = "1",
    seeds: int = 1,
    seed: int = 0,
    robustness: int = 0,
    map: int | None = None,  # noqa: A002 (the paper's word)
    limit: int | None = None,
    device: str | None = None,
    workers: int | None = None,
) -> None:
    """Measure a run's encoder: choose on validation images, score once on test images.

    Example:
        counterpoint evaluate runs/photos --data photos --protocol knn,linear

    Args:
        folder: Folder of the run.
        data: Folder or file of images, with labels.
        protocol: Any of knn, linear, mlp and finetune, separated by commas.
        labels: Fractions of the training labels, such as 0.01,0.1,1.
        seeds: Repetitions of the probes that depend on a seed.
        seed: The first of these seeds.
        robustness: Also classify N test images under every corruption and shift.
        map: Feature map to probe; -1 is the last (default: the last before a projection head).
        limit: Use only the first N images of each split (default: all).
        device: Where to compute, such as cpu or cuda:1 (default: an accelerator if there is one).
        workers: Processes that read image files (default: one per core).
    """
    refuse_early(run=folder, data=data)
    shares = _shares(labels)
    probes = [name.strip() for name in protocol.split(",")]
    for name in probes:
        refuse_unknown("protocol", name, PROBES)
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report.probe_table import probe_table
    from counterpoint.run import Run

    result = Run.open(folder).evaluate(
        open_data(data, limit=limit),
        probes=probes,
        fractions=shares,
        seeds=seeds,
        seed=seed,
        map=map,
        robust=robustness,
        device=device,
        workers=workers,
    )
    Console().print(probe_table(result, title=folder))


def _shares(text: str) -> list[float]:
    """Read fractions of the labels.

    >>> _shares("0.01, 1")
    [0.01, 1.0]
    """
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--labels is {text!r}; it needs fractions of the labels, such as 0.01,0.1,1"
        ) from None
