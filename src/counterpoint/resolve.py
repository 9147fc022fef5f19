"""From names to a job: once, and for everyone."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from counterpoint.address import is_address
from counterpoint.data import Source, as_source, image_shape, open_data, view_side
from counterpoint.data.lane_choice import chosen_lanes
from counterpoint.data.workers import loader_workers
from counterpoint.framework import Encoder, Method
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.settings import Training, fitting_batch
from counterpoint.job import Job, Start
from counterpoint.methods import METHODS, RECIPES, method_named, recipe_of, training_of
from counterpoint.methods.recognising import preset_of
from counterpoint.run import Run, steps_done
from counterpoint.run_files import MODEL
from counterpoint.training.initial_weights import InitialWeights
from counterpoint.training.run_store.run_copy import local_weights
from counterpoint.training.weights_place import encoder_beside


def resolve(
    method: Method | Run | str | Path,
    data: Any,
    *,
    encoder: Encoder | str | None = None,
    swaps: Mapping[str, Any] | None = None,
    size: int | None = None,
    training: Training | None = None,
    changes: Mapping[str, Any] | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    limit: int | None = None,
    known_bad: Collection[int] = (),
    parts: Mapping[str, type] | None = None,
    workers: int | None = None,
    weights: str | Path | Run | None = None,
    pixels: Pixels | None = None,
) -> Job:
    """Turn names into a job; everybody who trains, plans or suggests asks here.

    `method` is one of `METHODS`, a .json file, a method's JSON, a method, or a run or its folder,
    whose weights the job then starts from. `encoder` takes the place of the innermost one: the
    twin and the head around it stay. `swaps` are other parts, by name. Training settings are
    `training`, else those of the method's recipe, or of the run; `changes` and `epochs` replace
    some of them. `parts` are a user's own part classes, by name. `weights` are those that the
    encoder starts from: a safetensors file, a run, its folder, a timm folder (which names the
    encoder too) or "pretrained". `pixels` is how they want to see pixels, where they do not say
    so themselves.

    >>> import torch
    >>> from counterpoint import ArraySource
    >>> images = ArraySource("noise", torch.zeros(600, 3, 32, 32, dtype=torch.uint8))
    >>> job = resolve("byol-small", images, epochs=3)
    >>> job.steps, job.training.optimiser, job.origin
    (6, 'adamw', 'the recipe of byol-small with epochs 3')
    """
    _more_than_nothing(steps=steps, size=size)
    method = str(method) if isinstance(method, Path) else method
    changes = dict(changes or {}) | ({} if epochs is None else {"epochs": epochs})
    run = _run(method, parts)
    name = method if isinstance(method, str) and method in METHODS else None
    if name is not None and training is None:
        training_of(name, **changes)  # a wrong setting is said before the images are opened
    source = _images(data, limit, known_bad)
    side = view_side(source, size=size)
    given = run.method if run else method
    assert not isinstance(given, Run)
    place = _folder(weights) if isinstance(weights, Run) else _local(weights)
    if encoder is None and name is not None and place is not None:
        encoder = encoder_beside(place)
    composed = method_named(given, encoder=encoder, size=side, parts=parts)
    settings, origin = _settings(name or composed, training, changes, run)
    settings = _in_lanes(settings, source)
    composed = composed.swap(**swaps) if swaps else composed
    composed = composed.for_samples(len(source))
    begun = None if place is None else InitialWeights.find(place, composed.encoder, pixels)
    composed = composed if begun is None else begun.seen_by(composed)
    _enough(settings, len(source))
    whole = len(source) // settings.batch * settings.epochs
    by_name = isinstance(encoder, str) and not encoder.startswith("{")
    if name is None or swaps or (encoder is not None and not by_name):
        name, encoder, by_name = preset_of(composed, settings, size=side), None, False
    return Job(
        method=composed,
        source=source,
        image=image_shape(source, size=size),
        training=settings,
        steps=whole if steps is None else steps,
        workers=loader_workers(source, workers),
        origin=origin,
        size=size,
        name=name,
        encoder=str(encoder) if by_name else None,
        start=None if run is None else _start(run),
        weights=begun,
    )


def _settings(
    method: Method | str, training: Training | None, changes: dict[str, Any], run: Run | None
) -> tuple[Training, str]:
    """Return the training settings and where they come from."""
    if training is not None:
        return replace(training, **changes), "given"
    if run is not None:
        # Another seed, so that the views are not those that the run has seen already.
        own, origin = (
            replace(run.training, seed=run.training.seed + 1, lanes=None, block_shards=None),
            f"the run {_folder(run).name}",
        )
        settings = replace(own, **changes)
    else:
        settings = training_of(method, **changes)
        recipe = method if isinstance(method, str) else recipe_of(method)
        if recipe is None:
            return settings, "given"
        own, origin = RECIPES[recipe].training, f"the recipe of {recipe}"
    before, now = asdict(own), asdict(settings)
    changed = [f"{name} {now[name]}" for name in now if now[name] != before[name]]
    return settings, f"{origin} with {', '.join(changed)}" if changed else origin


def _in_lanes(training: Training, source: Source) -> Training:
    """Choose the lanes in which shards are read, where nobody said."""
    shards = source.shards
    if shards is None:
        if training.lanes is not None and training.lanes > 1:
            raise ValueError(
                f"training: lanes is {training.lanes}, and {source!r} has no shards; "
                "leave --lanes out, or make shards: counterpoint shard DATA OUT"
            )
        return replace(training, lanes=None, block_shards=None)
    filled = int((shards.counts > 0).sum())
    lanes, block = chosen_lanes(
        batch=training.micro_batch, shards=filled, mixed=shards.mixed, most_open=shards.most_open
    )
    return replace(
        training,
        lanes=training.lanes or lanes,
        block_shards=training.block_shards or block,
    )


def _run(method: Method | Run | str, parts: Mapping[str, type] | None) -> Run | None:
    """Return the run that a method's place may be; a name is a name first."""
    if isinstance(method, Run):
        return method
    if isinstance(method, Method) or method in METHODS or method.startswith("{"):
        return None
    there = is_address(method) or Path(method).is_dir()
    return Run.open(method, parts=dict(parts or {})) if there else None


def _folder(run: Run) -> Path:
    """Return where the weights of a run are kept."""
    if run.folder is None:
        raise ValueError(
            "weights: got an encoder that is kept in no folder; "
            "give encoder= and weights= instead, or open_encoder(..., out=FOLDER)"
        )
    return run.folder


def _local(weights: str | Path | None) -> str | Path | None:
    """Return weights as files of this machine."""
    return weights if weights is None or not is_address(weights) else local_weights(weights)


def _start(run: Run) -> Start:
    digest = hashlib.blake2b(digest_size=8)
    folder = _folder(run)
    with (folder / MODEL).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Start(folder, steps_done(folder) or 0, digest.hexdigest())


def _images(data: Any, limit: int | None, known_bad: Collection[int]) -> Source:
    """Return what training may see: the training split, where there are splits."""
    if isinstance(data, str | Path):
        return open_data(data, limit=limit, known_bad=known_bad).train
    source = as_source(data)
    source = source.marked(known_bad) if known_bad else source
    return source if limit is None else source.first(limit)


def _enough(training: Training, images: int) -> None:
    """Refuse a batch that is larger than the data, with one that fits."""
    if training.batch > images:
        fits = fitting_batch(training.batch, images) // training.accumulate * training.accumulate
        raise ValueError(
            f"data: a batch of {training.batch} from {images} images; "
            + (f"--batch-size {fits} fits" if fits else "there are too few to train on")
        )


def _more_than_nothing(**given: int | None) -> None:
    """Refuse numbers of steps or pixels that are none."""
    for name, value in given.items():
        if value is not None and value < 1:
            raise ValueError(f"training: {name} is {value}; needs 1 or more, or leave it out")
