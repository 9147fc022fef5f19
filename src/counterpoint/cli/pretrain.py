"""counterpoint pretrain."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from counterpoint.address import is_address
from counterpoint.cli.early import refuse_early
from counterpoint.cli.encoder_option import given_pixels
from counterpoint.cli.last_words import last_words
from counterpoint.cli.parts_file import loaded_parts
from counterpoint.run_options import FLAGS, KEEP, MAX_BAD, PATIENCE, SAVE_SECONDS

if TYPE_CHECKING:
    from counterpoint.job import Job


def pretrain_command(
    data: str,
    *,
    out: str,
    method: str = "simclr",
    encoder: str | None = None,
    weights: str | None = None,
    mean: str | None = None,
    std: str | None = None,
    size: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    accumulate: int | None = None,
    optimiser: Literal["lars", "sgd", "adam", "adamw"] | None = None,
    lr: float | None = None,
    weight_decay: float | None = None,
    seed: int | None = None,
    steps: int | None = None,
    limit: int | None = None,
    precision: Literal["32-true", "bf16-mixed", "64-true"] | None = None,
    compile: bool = False,  # noqa: A002 (the flag people know)
    lanes: int | None = None,
    block_shards: int | None = None,
    strategy: Literal["ddp", "fsdp2"] | None = None,
    checkpoint_activations: bool = False,
    slice_megabytes: float | None = None,
    devices: int = 1,
    workers: int | None = None,
    resume: str = "never",
    save_seconds: float = SAVE_SECONDS,
    keep: int = KEEP,
    keep_hours: float = 0.0,
    keep_best: Literal["loss", "knn", "linear", "rankme", "top1"] | None = None,
    max_bad: float = MAX_BAD,
    known_bad: str | None = None,
    patience: float = PATIENCE,
    parts: str | None = None,
    logger: Literal["csv", "tensorboard", "wandb"] = "csv",
) -> None:
    """Train an encoder on images without labels.

    Options that are not given are the method's own; `counterpoint anatomy METHOD` shows its parts.

    Example:
        counterpoint pretrain photos --method simclr-small --out runs/photos

    Args:
        data: Folder of images, or a Parquet, .npy or .npz file.
        out: Folder to write the run to, or an address such as s3://bucket/run.
        method: Name of a method (`counterpoint methods` lists them), a method.json, or the folder
            of a run, which is trained for longer: from its weights, with a new schedule.
        encoder: Name of an encoder (`counterpoint encoders` lists them) or timm/NAME
            (default: the method's own, e.g. resnet18).
        weights: Weights that the encoder starts from: a safetensors file with the key names of
            its library, the folder of a run or a timm folder, which have their encoder, or
            pretrained, which timm downloads (default: none, drawn from the seed).
        mean: Mean of each channel, from 0 to 1, that these weights want, such as 0.5,0.5,0.5
            (default: as the weights or their library say).
        std: Deviation of each channel that they want (default: as for the mean).
        size: Side of the views in pixels (default: 128 for image files, else that of the images).
        epochs: Passes over the images (default: the method's own, e.g. 1000).
        batch_size: Images per update over all devices (default: the method's own, e.g. 512).
        accumulate: Split each batch into N parts to save memory; negatives come from one part only
            (default: 1).
        optimiser: LARS, SGD with momentum, Adam or AdamW (default: the method's own, e.g. lars).
        lr: Learning rate per 256 images (default: the method's own, e.g. 1.0).
        weight_decay: Weight decay; of biases and norms too where the method's authors have it
            (default: the method's own, e.g. 0.0001).
        seed: Seed of weights, sample order and views (default: 0).
        steps: Stop after N steps, with the schedule fitted to them (default: all epochs).
        limit: Use only the first N images (default: all).
        precision: Precision to train in; scores and losses are in fp32 or better
            (default: 32-true).
        compile: Compile the encoder with torch.compile.
        lanes: Lanes that shards are read in; at most as many processes can share them
            (default: a power of two that divides the batch, at most 1024 or one per shard).
        block_shards: Shards of each lane that are mixed with each other (default: 8).
        strategy: On several devices: ddp gives each the whole model, fsdp2 its share of every
            weight, for models that do not fit (default: ddp).
        checkpoint_activations: Keep less for the backward pass and compute it again: less memory,
            about a third more time.
        slice_megabytes: On several devices: megabytes of candidates to gather at once; more of
            them come in slices, with the same result (default: 64).
        devices: Processes to train on; under torchrun or SLURM, theirs.
        workers: Processes that read image files (default: one per core).
        resume: "auto" resumes from the newest checkpoint in --out, or starts afresh if there is
            none; a checkpoint's folder resumes from that checkpoint.
        save_seconds: Seconds between checkpoints; 0 writes one after every step.
        keep: Newest checkpoints to keep; at least 2.
        keep_hours: Also keep a checkpoint every N hours, for good; 0 keeps none.
        keep_best: Also keep the best checkpoint by this figure: the loss of metrics.csv, or one of
            health.jsonl, which is measured after each epoch (default: none).
        max_bad: Stop the run if more than this share of the files cannot be read.
        known_bad: The quarantine.jsonl of an earlier run on the same data; its files are skipped
            (default: none).
        patience: Seconds of silence after which another process counts as lost.
        parts: Python file with your own parts, which a method.json names; the file is executed
            (default: none).
        logger: Where to log metrics besides metrics.csv; wandb stays offline.
    """
    asked = dict(locals())  # all options by name, before anything else has one
    refuse_early(
        data=data,
        method=method,
        encoder=encoder,
        weights=weights,
        out_run=out,
        resume=resume,
        parts=parts,
        known_bad=known_bad,
    )
    from counterpoint.pretraining import pretrain
    from counterpoint.training.loggers import loggers_named
    from counterpoint.training.out_folder import out_folder
    from counterpoint.training.run_store.run_address import run_place

    loggers = loggers_named(logger, out_folder(out))
    job = asked_job(asked)
    run = pretrain(
        job,
        out=out,
        resume=resume,
        save_seconds=save_seconds,
        keep=keep,
        keep_hours=keep_hours,
        keep_best=keep_best,
        max_bad=max_bad,
        patience=patience,
        loggers=loggers,
        devices=devices,
    )
    assert run.folder is not None
    _end(run_place(run.folder), data, labels=job.source.has_labels)


def _end(folder: str, data: str, *, labels: bool) -> None:
    """Say where the run is, and how to see what was learned."""
    beside = Path(folder).name if is_address(folder) else folder
    report = ["counterpoint", "report", folder, "--data", data, "--out", f"{beside}.html"]
    embed = ["counterpoint", "embed", folder, data, "--out", f"{beside}-vectors"]
    evaluate = ["counterpoint", "evaluate", folder, "--data", data]
    last_words(
        f"run in {folder}: encoder.safetensors for use elsewhere, model.safetensors, metrics.csv",
        *([evaluate, report] if labels else [report, embed]),
    )


def asked_job(asked: Mapping[str, Any]) -> "Job":
    """Resolve the options of this command."""
    from counterpoint.resolve import resolve

    settings = {setting: asked[option] for setting, option in FLAGS.items()}
    return resolve(
        asked["method"],
        asked["data"],
        encoder=asked["encoder"],
        size=asked["size"],
        changes={name: v for name, v in settings.items() if v is not None and v is not False},
        steps=asked["steps"],
        limit=asked["limit"],
        known_bad=_numbers(asked["known_bad"]),
        parts=loaded_parts(asked["parts"]),
        workers=asked["workers"],
        weights=asked["weights"],
        pixels=given_pixels(asked["mean"], asked["std"], asked["weights"]),
    )


def _numbers(file: str | None) -> list[int]:
    """Read the sample numbers of a quarantine.jsonl."""
    import json

    lines = Path(file).read_text().splitlines() if file else []
    return [int(json.loads(line)["sample"]) for line in lines]
