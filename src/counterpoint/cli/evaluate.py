"""counterpoint evaluate."""

from counterpoint.cli.early import refuse_early


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
    """Measure a run's encoder: chosen on validation images, scored once on test images.

    Args:
        folder: Folder of the run.
        data: Folder of the images, with labels.
        protocol: Any of knn, linear, mlp and finetune, with commas between.
        labels: Shares of the training labels, such as 0.01,0.1,1.
        seeds: How often to repeat what has chance in it.
        seed: The first of these seeds.
        robustness: How many test images to classify under every corruption and shift as well.
        map: Feature map to probe, -1 is the last; the last before a projection head if not given.
        limit: Only the first so many images of each split, for a quick look.
        device: Where to compute, such as cpu or cuda:1; an accelerator if there is one.
        workers: Processes that read files; one per core if not given.
    """
    refuse_early(run=folder, data=data)
    shares = _shares(labels)
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report.probe_table import probe_table
    from counterpoint.run import Run

    result = Run.open(folder).evaluate(
        open_data(data, limit=limit),
        probes=[name.strip() for name in protocol.split(",")],
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
    """Read shares of the labels.

    >>> _shares("0.01, 1")
    [0.01, 1.0]
    """
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--labels is {text!r}; it needs shares of the labels, such as 0.01,0.1,1"
        ) from None
