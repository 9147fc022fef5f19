"""Shards on a Ray cluster: one shard is one task, and nothing but its number travels.

Which shards are done is known by listing the folder, so a node that dies costs only the shards
that it was writing.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from counterpoint.failures import RunFailure
from counterpoint.progress import tracked
from counterpoint.ray_connection import joined_ray, room_on, worker_environment
from counterpoint.sharding.sharding_job import ShardingJob, Task

AHEAD = 2  # tasks that wait for each slot


@lru_cache(maxsize=1)
def opened_job(folder: str) -> ShardingJob:
    """Open the images once in a worker."""
    return ShardingJob.resume(folder)


def shard_task(folder: str, task: Task) -> None:
    """Write one shard, unless another worker has."""
    job = opened_job(folder)
    if not job.has(task):
        job.write_one(task)


def write_on_ray(
    job: ShardingJob, tasks: Sequence[Task], *, cpus: int = 1, address: str | None = None
) -> None:
    """Write shards on a Ray cluster; the images and the folder are where all nodes see them."""
    ray = joined_ray(address, what="shard")
    remote = ray.remote(shard_task).options(
        num_cpus=cpus, max_retries=-1, runtime_env=worker_environment(cpus)
    )
    folder = str(job.out.resolve())
    try:
        done = _done(ray, remote, folder, tasks, cpus)
        for _ in tracked(tasks, "writing shards"):
            next(done)
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise RunFailure(f"shard: a worker failed: {lines[-1] if lines else error!r}") from error
    if left := job.left():
        raise RunFailure(
            f"shard: {len(left):,} shards are not in {job.out}, though workers wrote them; needs "
            "a folder that all nodes see"
        )


def _done(ray: Any, remote: Any, folder: str, tasks: Sequence[Task], cpus: int) -> Iterator[None]:
    """Keep a few tasks ahead of the slots; nodes that join later are used, too."""
    waiting: list[Any] = []
    following = iter(tasks)
    for _ in tasks:
        while len(waiting) < AHEAD * room_on(ray, cpus, 0.0):
            task = next(following, None)
            if task is None:
                break
            waiting.append(remote.remote(folder, task))
        ready, waiting = ray.wait(waiting, num_returns=1)
        ray.get(ready)
        yield
