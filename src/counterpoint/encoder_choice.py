"""What embeds: the encoder of a run, or a bare one with weights that were trained elsewhere."""

from collections.abc import Mapping
from pathlib import Path

import torch

from counterpoint.address import is_address, whole_address
from counterpoint.data.image_size import CUT
from counterpoint.framework import Encoder, Method
from counterpoint.framework.optional import library_pixels
from counterpoint.framework.pixels import Pixels
from counterpoint.methods import method_named, training_of
from counterpoint.parts.encoders import innermost
from counterpoint.parts.views import pipelines
from counterpoint.parts.views.normalisation import pixels_of, usual_view, with_pixels
from counterpoint.run import Run, bare_record, steps_done, write_run
from counterpoint.run_files import ENCODER, METHOD, MODEL, RUN
from counterpoint.training.initial_weights import InitialWeights, load_initial
from counterpoint.training.out_folder import out_folder
from counterpoint.training.run_store.object_place import ObjectPlace
from counterpoint.training.run_store.run_address import made_folder, run_place
from counterpoint.training.run_store.run_copy import bring_back, local_run, local_weights
from counterpoint.training.run_store.store_probe import refuse_unwritable
from counterpoint.training.weights_place import encoder_beside

BASE = "simclr"
"""The method around a bare encoder: its evaluation view, and how it would be trained on."""
SEED = 0  # of weights that nothing gives, such as those of the projection head


def open_encoder(
    run: str | Path | None = None,
    *,
    encoder: Encoder | str | None = None,
    weights: str | Path | None = None,
    size: int | None = None,
    parts: Mapping[str, type] | None = None,
    pixels: Pixels | None = None,
    out: str | Path | None = None,
) -> Run:
    """Open a run, or make one of zero steps of an encoder and its weights.

    `encoder` is a name or the settings of one; `weights` those that it has: a safetensors file,
    the folder of a run or a timm folder, which have their encoder, or "pretrained". They are
    drawn at random where none are given. `size` is the side of the views in pixels, else that
    which the weights were trained at, else 128; pixels are normalised as they want it, or as
    `pixels` says. `parts` are a user's own part classes, which a run's method may name. A run of
    zero steps has no folder, unless `out` says where it is kept.

    >>> run = open_encoder(encoder="small", size=32)
    >>> run.embed(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape
    torch.Size([2, 256])
    """
    if run is not None:
        _refuse_both(encoder=encoder, weights=weights, size=size, out=out)
        return Run.open(run, parts=dict(parts) if parts else None)
    if weights is not None and is_address(weights):
        weights = local_weights(weights)
    encoder = encoder or (None if weights is None else encoder_beside(weights))
    if encoder is None:
        raise ValueError(
            "encoder: got neither a run nor an encoder; needs the folder of a run, or --encoder "
            "and --weights"
        )
    method, found, side = _composed(encoder, weights, size, parts, pixels)
    folder = None if out is None else _free(out, method)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = method.build(image=(3, side, side))
    if found is not None:
        load_initial(model, found)
    made = Run(folder, method, model, (3, side, side), training_of(BASE))
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        named = encoder if isinstance(encoder, str) else str(encoder)
        write_run(made, bare_record(made, named, None if found is None else found.to_dict()))
        bring_back(folder, MODEL, ENCODER, METHOD, RUN)
    return made


def seen_words(run: Run) -> str:
    """Say how an encoder sees images, which decides how good it is.

    >>> seen_words(open_encoder(encoder="timm/resnet18"))
    'images of 224 x 224 pixels, (x - [0.485 0.456 0.406]) / [0.229 0.224 0.225]'
    """
    pixels = pixels_of(run.method.views, origin="")
    side = " x ".join(map(str, run.image[1:]))
    return f"images of {side} pixels, {pixels or 'not normalised'}"


def _composed(
    encoder: Encoder | str,
    weights: str | Path | None,
    size: int | None,
    parts: Mapping[str, type] | None,
    pixels: Pixels | None,
) -> tuple[Method, InitialWeights | None, int]:
    """Compose a method around an encoder, seen and normalised as its weights want it."""
    method = method_named(BASE, encoder=encoder, size=size or CUT, parts=parts)
    found = None if weights is None else InitialWeights.find(weights, method.encoder, pixels)
    usual = library_pixels(innermost(method.encoder)) if found is None else found.pixels
    side = size or (usual.size if usual is not None else None) or CUT
    views = pipelines.simclr_views(side)
    if usual is not None:
        views = with_pixels(usual_view(views, usual, side=side), usual)
    composed = method_named(BASE, encoder=encoder, size=side, parts=parts).swap(views=views)
    return composed, found, side


def _refuse_both(**given: object) -> None:
    """Refuse what a run has already."""
    if more := [f"--{name}" for name, value in given.items() if value is not None]:
        raise ValueError(
            f"encoder: got a run and {', '.join(more)}; needs the one or the other: "
            "a run has its encoder, its weights and its size"
        )


def _steps_at(out: str | Path, folder: Path) -> int | None:
    """Return the steps of a run that is there already, on a disk or in a store."""
    try:
        return steps_done(local_run(out, tensors=False) if is_address(out) else folder)
    except FileNotFoundError:
        return None


def _free(out: str | Path, method: Method) -> Path:
    """Return the folder of a run of zero steps; a run that was trained is never overwritten."""
    folder = out_folder(out)
    there = {place.name for place in folder.iterdir()} if folder.is_dir() else set()
    if is_address(out):
        store = ObjectPlace(whole_address(out))
        refuse_unwritable(store)
        made_folder(folder, whole_address(out))
        there = set(store.listing())
    if _steps_at(out, folder):
        raise ValueError(
            f"out: {run_place(folder)} is a run that was trained; needs a name that is free for "
            f"{method.encoder}"
        )
    there = {name for name in there if not name.startswith(".")}  # such as .DS_Store
    if there and RUN not in there:
        raise ValueError(
            f"out: {run_place(folder)} is not empty and is no run; needs a new or an empty "
            f"folder: files such as {MODEL} would be overwritten"
        )
    return folder
