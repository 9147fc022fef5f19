"""The summary printed before a run."""

import torch
from rich.markup import escape
from rich.table import Table

from counterpoint.data import Source
from counterpoint.data.order import BLOCK_SHARDS, Order
from counterpoint.data.shard_mixing import same_shard, same_shard_by_chance
from counterpoint.framework import ALONE, Method, Model
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.settings import Training
from counterpoint.training.cost import (
    blank_views,
    memory_of,
    memory_there,
    shadow,
    trained_parameters,
)
from counterpoint.training.strategy_words import strategy_words
from counterpoint.training.traffic import exchanges_of

WIDE = 2048  # images; more are made for many devices


def candidates(model: Model, training: Training, *, ranks: int) -> str:
    """Say how many candidates an anchor is compared with and where they come from."""
    if not model.loss.needs_negatives:
        return "its positives only: this loss has no negatives"
    two, three = (_candidates(model, images) for images in (2, 3))
    each, kept = three - two, two - 2 * (three - two)
    remembered = f" and {kept:,} remembered" if kept else ""
    gathered = f", gathered from {ranks} ranks" if ranks > 1 else ""
    gathered += slices_words(model, training, ranks=ranks)
    where = "the batch" if training.accumulate == 1 else f"a part of {training.micro_batch}"
    count = each * training.micro_batch + kept
    return f"{count:,} per anchor: {each} of each image in {where}{remembered}{gathered}"


def slices_words(model: Model, training: Training, *, ranks: int) -> str:
    """Say in how many slices candidates come, or why they come at once though they are many."""
    found = exchanges_of(model, training, ranks=ranks)
    most = max((each.slices for each in found), default=1)
    budget = f"{training.slice_bytes / 1e6:g} MB"
    if most > 1:
        return f" in {most:,} slices of at most {budget}"
    largest = max((each.held(ranks) / (1 + each.gradient) for each in found), default=0)
    if largest <= training.slice_bytes:
        return ""
    why = "labels make" if model.needs_labels else "this loss makes"
    return f" at once, {largest / 1e6:,.0f} MB: {why} slices impossible"


def _candidates(model: Model, images: int) -> int:
    """Count the candidates of the first comparison, on the meta device."""
    with torch.device("meta"):
        encoder, extraction = shadow(model.encoder), shadow(model.extraction)
        seen = Model(model.views, encoder, extraction, model.similarity, model.loss)
        samples = blank_samples(images, labels=model.needs_labels)
        encoded = seen.encode(blank_views(model, images=images))
        first, *_ = seen.extraction(encoded, samples, ALONE)
    past = 0 if first.remembered is None else len(first.remembered.vectors)
    return len(first.candidates) + past


def memory(model: Model, training: Training, *, ranks: int) -> str:
    """Estimate the memory of a rank, and warn where it is more than there is."""
    needed, there = memory_of(model, training, ranks=ranks), memory_there()
    said = f"about {needed.total / 2**30:.2f} GiB ({needed.activations / 2**30:.2f} of activations)"
    if needed.total <= there:
        return said
    do = "a smaller --batch-size or --size, or --accumulate"
    return f"[bold red]{said}, and there are {there / 2**30:.0f}: take {do}[/]"


def batch_words(training: Training, *, needs_negatives: bool) -> str:
    """Say what an update is made of.

    >>> batch_words(Training(batch=512, accumulate=4), needs_negatives=True)
    '512 images, in 4 parts of 128: negatives and batch statistics are those of a part'
    """
    said = f"{training.batch:,} images"
    if training.accumulate > 1:
        seen = "negatives and batch statistics are" if needs_negatives else "batch statistics are"
        said += (
            f", in {training.accumulate} parts of {training.micro_batch}: {seen} those of a part"
        )
    elif training.batch >= WIDE:
        said += "; made for many devices: on one take --batch-size 256 (the rate follows) or "
        said += f"--accumulate {training.batch // 256}"
    return said


def steps_words(steps: int, training: Training, images: int) -> str:
    """Say how long a run is.

    >>> steps_words(20, Training(batch=64, epochs=1000), 45_000)
    '20 updates: 1,280 images, 0.03 epochs'
    """
    whole = max(1, images // training.batch)
    return f"{steps:,} updates: {steps * training.batch:,} images, {epochs_words(steps / whole)}"


def epochs_words(epochs: float) -> str:
    """Write a number of epochs.

    >>> epochs_words(1000.0), epochs_words(1.0), epochs_words(2.5), epochs_words(1e-3)
    ('1,000 epochs', '1 epoch', '2.5 epochs', 'less than 0.01 epochs')
    """
    if epochs < 0.01:
        return "less than 0.01 epochs"
    said = f"{epochs:,.2f}".rstrip("0").rstrip(".")
    return f"{said} epoch{'' if said == '1' else 's'}"


def shard_words(source: Source, training: Training) -> str:
    """Say how shards are read, and how many images of a batch an anchor shares its shard with."""
    shards = source.shards
    assert shards is not None
    lanes, block = training.lanes or 1, training.block_shards or BLOCK_SHARDS
    order = Order(
        len(source),
        training.micro_batch,
        training.seed,
        lanes=lanes,
        block_shards=block,
        counts=shards.counts,
    )
    mixed = min(block, -(-len(shards.counts) // lanes))
    chance = same_shard_by_chance(shards.counts, training.micro_batch)
    counts = f"{len(shards.counts):,}" + (", mixed when written," if shards.mixed else "")
    return (
        f"{counts} in {lanes:,} lanes, {mixed:,} of each mixed: of the "
        f"{training.micro_batch - 1:,} others in a batch {same_shard(order):.1f} come from an "
        f"anchor's own shard, and {chance:.1f} would by chance"
    )


def start_table(
    method: Method,
    model: Model,
    source: Source,
    training: Training,
    *,
    recipe: str,
    ranks: int,
    steps: int,
    start: str = "",
    pixels: str = "",
) -> Table:
    """Show data, parts, parameters, candidates, learning rate and memory.

    `start` says which weights it starts from, where these are not drawn by its seed, and
    `pixels` how they see pixels.
    """
    strategy = strategy_words(model, training, ranks=ranks)
    table = Table(title=f"method {method.fingerprint}", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows = {
        "data": repr(source),
        **({} if source.shards is None else {"shards": shard_words(source, training)}),
        **dict(method.rows()),
        "recipe": recipe,
        **({"start": start} if start else {}),
        **({"pixels": pixels} if pixels else {}),
        "parameters": f"{trained_parameters(model):,} trained",
        "candidates": candidates(model, training, ranks=ranks),
        "learning rate": (
            f"{training.scaled_lr:g} = {training.lr:g} x {training.batch} / 256, "
            f"{training.optimiser}, weight decay {training.weight_decay:g}"
        ),
        "batch": batch_words(training, needs_negatives=model.loss.needs_negatives),
        "steps": steps_words(steps, training, len(source)),
        "memory": memory(model, training, ranks=ranks),
        **({"strategy": strategy} if strategy else {}),
        "precision": training.precision + (", compiled" if training.compile else ""),
        "seed": str(training.seed),
    }
    for name, value in rows.items():
        table.add_row(name, escape(value))
    return table
