"""counterpoint embed."""

from typing import TYPE_CHECKING, Literal

from counterpoint.cli.early import refuse_early
from counterpoint.cli.last_words import last_words

if TYPE_CHECKING:
    from counterpoint.vectors import Vectors


def embed_command(
    run: str,
    data: str | None = None,
    *,
    out: str,
    encoder: str | None = None,
    weights: str | None = None,
    size: int | None = None,
    map: int | None = None,  # noqa: A002 (the paper's word)
    limit: int | None = None,
    part_size: int | None = None,
    copies: int = 1000,
    device: str | None = None,
    workers: int | None = None,
    parts: str | None = None,
    runner: Literal["local", "ray"] = "local",
    cpus: int = 1,
    gpus: float = 0.0,
    address: str | None = None,
) -> None:
    """Write the vector of every image into a folder, for search and curation.

    Give the same command again if it was stopped: finished parts are not done twice. The folder
    holds Parquet files with the path, the SHA-256, the size, the label and the vector of each
    image; those that cannot be read are listed with the reason. Without a run, --encoder and
    --weights use an encoder that you already have: counterpoint embed DATA --encoder ...

    Example:
        counterpoint embed runs/photos photos --out vectors

    Args:
        run: Folder of the run whose encoder is used, or its address; left out with --encoder.
        data: Folder or file of images; all splits are embedded (default: none, it is needed).
        out: Folder to write to, or one to continue.
        encoder: Name of an encoder to use without a run, such as timm/NAME (default: the run's,
            or that of the weights, if they are a run or a timm folder).
        weights: Weights of that encoder: a safetensors file with the key names of its library, a
            timm folder, the folder of a run, or pretrained, which timm downloads (default: none,
            drawn at random).
        size: Side of the views of that encoder in pixels (default: the weights' own, or 128).
        map: Feature map to take; -1 is the last (default: the last before a projection head).
        limit: Use only the first N images of each split (default: all).
        part_size: Images in one file (default: 1,000, more for more than a million images).
        copies: Also embed copies of N images (saved again, resized, cropped, recoloured), by which
            curate knows how near duplicates are; 0 for none.
        device: Where to compute, such as cpu or cuda:1 (default: an accelerator if there is one).
        workers: Processes that read image files (default: one per core).
        parts: Python file with your own parts, which a run's method names; the file is executed
            (default: none).
        runner: "local" uses this machine, "ray" the workers of a Ray cluster that all see the
            run, the images and the folder.
        cpus: Cores of each worker, with --runner ray.
        gpus: GPUs of each worker, with --runner ray; fractions are allowed.
        address: Address of a Ray cluster (default: the one this process is part of).
    """
    chosen, images = (run, data) if encoder is None else (None, run)
    if images is None or (encoder is not None and data is not None):
        raise ValueError(
            "embed needs a run and a folder of images, or --encoder and a folder of images; for "
            "example: counterpoint embed runs/photos photos --out vectors"
        )
    refuse_early(run=chosen, encoder=encoder, weights=weights, data=images, out=out, parts=parts)
    from counterpoint.vectors.embed_parts import EmbedJob
    from counterpoint.vectors.encoder_address import EncoderAddress

    where = EncoderAddress.of(chosen, encoder=encoder, weights=weights, size=size, parts=parts)
    job = EmbedJob.begin(
        where.open(), images, out, limit=limit, address=where, map=map, part_size=part_size
    )
    try:
        with job.alone(copies):
            left = job.left()
            if runner == "ray":
                from counterpoint.vectors.ray_parts import embed_on_ray

                embed_on_ray(job, left, cpus=cpus, gpus=gpus, workers=workers, address=address)
            with job.ready(device):
                job.do(job.left(), workers=workers)
                job.do_copies(copies, workers=workers)
            made = job.finish()
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; run the same command again to resume") from None
    _say(made, len(left))


def _say(made: "Vectors", parts: int) -> None:
    """Say what is there now, and what comes next."""
    from rich.console import Console
    from rich.markup import escape

    bad = made.unreadable
    console = Console(soft_wrap=True, highlight=False)
    if not parts:
        console.print(f"nothing to do: all {made.record.parts:,} parts are there")
    size = sum(file.stat().st_size for file in made.folder.glob("*.parquet")) / 2**20
    place = escape(str(made.folder))
    console.print(
        f"{made.count:,} vectors of {made.width} numbers, {size:.1f} MB: [bold]{place}[/]"
    )
    if bad:
        such = escape(f"{bad[0].path}: {bad[0].error}")
        console.print(f"{len(bad):,} images cannot be read, such as {such}")
    last_words("", ["counterpoint", "search", made.folder, "IMAGE", "--out", "gallery.html"])
