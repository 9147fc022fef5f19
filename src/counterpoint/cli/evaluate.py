"""counterpoint evaluate."""


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
    """
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report.probe_table import probe_table
    from counterpoint.run import Run

    result = Run.open(folder).evaluate(
        open_data(data, limit=limit),
        probes=[name.strip() for name in protocol.split(",")],
        fractions=[float(share) for share in labels.split(",")],
        seeds=seeds,
        seed=seed,
        map=map,
        robust=robustness,
    )
    Console().print(probe_table(result, title=folder))
