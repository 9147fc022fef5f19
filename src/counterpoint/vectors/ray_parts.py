"""Parts on a Ray cluster: Ray Data with one part as the row.

A part is read, encoded and written by one worker, and nothing but its number travels. Which parts
are done is known by listing the folder, so a node that dies costs only the parts it was making.
"""

import logging
from collections.abc import Sequence
from typing import Any

from counterpoint.failures import RunFailure
from counterpoint.progress import tracked
from counterpoint.ray_connection import joined_ray, room_on, worker_environment
from counterpoint.vectors.embed_parts import EmbedJob
from counterpoint.vectors.part_file import part_path

PART = "part"


class PartWorker:
    """An actor: it opens the encoder and the images once, then makes parts."""

    def __init__(self, folder: str, workers: int) -> None:
        self.job = EmbedJob.resume(folder)
        self.workers = workers

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Make one part, unless another worker has."""
        part = int(row[PART])
        if not part_path(self.job.folder, part).exists():
            with self.job.ready():
                self.job.do([part], workers=self.workers)
        return row


def embed_on_ray(
    job: EmbedJob,
    parts: Sequence[int],
    *,
    cpus: int = 1,
    gpus: float = 0.0,
    workers: int | None = None,
    address: str | None = None,
) -> None:
    """Make parts on a Ray cluster; the folder, the images and the run are where all nodes see them.

    Each worker has `cpus` cores, which are its threads, and `gpus`, which may be a fraction. It
    reads files by `workers` processes of its own: none with one core, else one per core.
    `address` is that of a cluster; none joins the one around this process, or starts one here.
    """
    if job.record.data["path"] is None:
        raise ValueError("vectors: these images are in memory; on Ray needs the path of the data")
    ray = joined_ray(address, what="embed")
    if not parts:
        return
    table = _table(parts)
    now = min(len(parts), room_on(ray, cpus, gpus))  # nodes that join later are used, too
    pool = ray.data.ActorPoolStrategy(min_size=now, max_size=len(parts))
    many = (0 if cpus == 1 else cpus) if workers is None else workers
    made = table.map(
        PartWorker,
        fn_constructor_args=(str(job.folder.resolve()), many),
        compute=pool,
        num_cpus=cpus,
        num_gpus=gpus or None,
        runtime_env=worker_environment(cpus),
    )
    try:
        rows = iter(made.iter_rows())
        for _ in tracked(parts, "embedding"):
            next(rows)
    except ray.exceptions.RayError as error:
        raise RunFailure(f"embed: a worker failed: {_cause(error)}") from error
    if left := job.left():
        raise RunFailure(
            f"embed: {len(left):,} parts are not in {job.folder}, though workers wrote them; needs "
            "a folder that all nodes see"
        )


def _table(parts: Sequence[int]) -> Any:
    """Return the numbers of the parts as Ray's rows, each a task of its own."""
    try:
        import ray.data
    except ImportError as error:
        raise ValueError(
            "embed: Ray Data is not installed; pip install 'counterpoint[ray]', or --runner local"
        ) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # ours says how long it will take
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    return ray.data.from_items([{PART: part} for part in parts], override_num_blocks=len(parts))


def _cause(error: BaseException) -> str:
    """Return the last line of what happened in a worker."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
