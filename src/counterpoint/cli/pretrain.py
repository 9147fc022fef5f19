"""counterpoint pretrain."""

from pathlib import Path
from typing import Any, Literal

from counterpoint.cli.early import refuse_early
from counterpoint.cli.parts_file import loaded_parts


def pretrain_command(
    data: str,
    *,
    out: str,
    method: str = "simclr",
    encoder: str | None = None,
    size: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    accumulate: int = 1,
    optimiser: Literal["lars", "sgd", "adam", "adamw"] | None = None,
    lr: float | None = None,
    weight_decay: float | None = None,
    seed: int = 0,
    steps: int | None = None,
    limit: int | None = None,
    precision: Literal["32-true", "bf16-mixed", "64-true"] = "32-true",
    compile: bool = False,  # noqa: A002 (the flag people know)
    devices: int = 1,
    workers: int | None = None,
    resume: str = "never",
    save_seconds: float = 240.0,
    most_bad: float = 0.1,
    known_bad: str | None = None,
    patience: float = 120.0,
    parts: str | None = None,
    logger: Literal["csv", "tensorboard", "wandb"] = "csv",
) -> None:
    """Train an encoder on images without labels.

    Options that are not given are the method's own (`counterpoint methods`).

    Args:
        data: Folder of the images, or a Parquet, .npy or .npz file.
        out: Folder to write the run to.
        method: Name of a method (`counterpoint methods` lists them) or a method.json.
        encoder: A torchvision ResNet, small, or timm/NAME; the method's own if not given.
        size: Side of the views in pixels; if not given, 128 of files, that of images in memory.
        epochs: Passes over the images; the method's own if not given.
        batch_size: Images per update, over all devices; the method's own if not given.
        accumulate: Parts that a batch is worked through in; less memory, negatives of a part only.
        optimiser: LARS, SGD with momentum, Adam or AdamW.
        lr: Learning rate per 256 images; the method's own if not given.
        weight_decay: Weight decay, not for biases and norms.
        seed: Seed of weights, order and views.
        steps: Stop after so many steps, with the schedule fitted to them.
        limit: Only the first so many images.
        precision: Numbers to train in; scores and losses are fp32 at least.
        compile: Compile the encoder with torch.compile.
        devices: Processes to train on; torchrun and SLURM say it themselves.
        workers: Processes that read image files; one per core if not given.
        resume: "auto" goes on from the newest checkpoint in the folder, or begins when there is
            none; a checkpoint's folder goes on from that one.
        save_seconds: Time between two checkpoints; 0 writes one after every step.
        most_bad: Share of files that cannot be read above which the run stops.
        known_bad: The quarantine.jsonl of an earlier run on the same data: not read again.
        patience: Seconds without a sign of life after which another process counts as lost.
        parts: Python file with parts of your own that a method.json names; it is run.
        logger: Where metrics go besides metrics.csv; wandb stays offline.
    """
    refuse_early(data=data, method=method, encoder=encoder)
    from counterpoint.data import open_data, view_side
    from counterpoint.methods import RECIPES, method_named, training_of
    from counterpoint.pretraining import pretrain
    from counterpoint.training.loggers import loggers_named
    from counterpoint.training.out_folder import out_folder

    loggers = loggers_named(logger, out_folder(out))
    asked = {
        "epochs": epochs,
        "batch": batch_size,
        "accumulate": accumulate,
        "optimiser": optimiser,
        "lr": lr,
        "weight_decay": weight_decay,
        "seed": seed,
        "precision": precision,
        "compile": compile,
    }
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    settings = training_of(method, **given) if method in RECIPES else None
    splits = open_data(data, limit=limit, known_bad=_numbers(known_bad))
    side = view_side(splits.train, size=size)
    chosen = method_named(method, encoder=encoder, size=side, parts=loaded_parts(parts))
    pretrain(
        chosen,
        splits,
        out=out,
        training=settings or training_of(chosen, **given),
        steps=steps,
        size=size,
        workers=workers,
        resume=resume,
        save_seconds=save_seconds,
        most_bad=most_bad,
        patience=patience,
        loggers=loggers,
        devices=devices,
    )


def _numbers(file: str | None) -> list[int]:
    """Read the sample numbers of a quarantine.jsonl."""
    import json

    lines = Path(file).read_text().splitlines() if file else []
    return [int(json.loads(line)["sample"]) for line in lines]
