"""counterpoint shard."""

from typing import TYPE_CHECKING, Literal

from counterpoint.cli.early import refuse_early
from counterpoint.cli.last_words import last_words

if TYPE_CHECKING:
    from counterpoint.data.shards.shard_manifest import ShardManifest


def shard_command(
    data: str,
    out: str,
    *,
    images: int | None = None,
    shard_size: int = 256,
    lanes: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    verify: bool = False,
    runner: Literal["local", "ray"] = "local",
    cpus: int = 1,
    address: str | None = None,
) -> None:
    """Write images as shards: large files that a disk or an object store reads at full speed.

    All images of a split are mixed and dealt to tars of equal counts, each with an index; their
    bytes do not change. Every image is decoded once as a check: what cannot be decoded is left
    out and listed in left_out.csv. Give the same command again if it was stopped: finished shards
    are not written twice. Every command takes the folder as data.

    Example:
        counterpoint shard photos photo-shards

    Args:
        data: Folder or file of images.
        out: Folder to write to, or one to continue.
        images: Images in one shard, at most (default: as many as --shard-size holds).
        shard_size: Size of one shard in MB, about.
        lanes: Make the number of training shards a multiple of N, the lanes of the order in
            training (default: by the number of shards).
        seed: Seed of the order in which images are mixed.
        workers: Processes that decode and write (default: one per core).
        verify: Read everything again at the end: checksums, and every image.
        runner: "local" uses this machine, "ray" the workers of a Ray cluster that all see the
            images and the folder.
        cpus: Cores of each worker, with --runner ray.
        address: Address of a Ray cluster (default: the one this process is part of).
    """
    refuse_early(data=data, out=out)
    from counterpoint.data.workers import cores
    from counterpoint.sharding import ShardingJob

    many = cores() if workers is None else workers
    job = ShardingJob.begin(data, out, images=images, shard_size=shard_size, lanes=lanes, seed=seed)
    try:
        with job.alone():
            left = job.left()
            if runner == "ray":
                from counterpoint.sharding.ray_shards import write_on_ray

                write_on_ray(job, left, cpus=cpus, address=address)
            else:
                job.write(left, workers=many)
            made = job.finish()
        _say(made, out, nothing=not left)
        if verify:
            _verify(out, many)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; run the same command again to resume") from None
    last_words("", ["counterpoint", "pretrain", out, "--out", "run"])


def _say(made: "ShardManifest", out: str, *, nothing: bool) -> None:
    """Say what is there now."""
    from rich.console import Console

    lines = ["nothing to do: all shards are there"] if nothing else []
    for name, split in made.splits.items():
        each = split.count / max(1, split.shards)
        shards = "1 shard" if split.shards == 1 else f"{split.shards:,} shards of {each:,.0f}"
        lines.append(f"{name}: {split.count:,} images in {shards}")
    if made.left_out:
        lines.append(f"{made.left_out:,} images cannot be decoded: {out}/left_out.csv")
    lanes = "1 lane" if made.lanes == 1 else f"up to {made.lanes:,} lanes"
    lines.append(f"shards: {out}, for {lanes}")
    Console().print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _verify(out: str, workers: int) -> None:
    """Read everything again; an error where something is wrong."""
    from pathlib import Path

    from rich.console import Console

    from counterpoint.data.stores.local_files import LocalFiles
    from counterpoint.failures import RunFailure
    from counterpoint.sharding.verification import verify_shards

    checks = verify_shards(LocalFiles(Path(out)), workers=workers)
    wrong = [line for check in checks for line in check.wrong]
    size = sum(check.length for check in checks) / 2**20
    said = f"{sum(check.images for check in checks):,} images, {size:,.1f} MB read again"
    if wrong:
        raise RunFailure(
            "\n".join(
                [
                    *wrong[:20],
                    f"shard: {said}: {len(wrong):,} findings; delete the files that are named and "
                    "give the same command again, which writes them",
                ]
            )
        )
    Console().print(f"{said}: nothing is wrong", highlight=False, soft_wrap=True)
