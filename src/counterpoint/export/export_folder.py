"""From a run to a folder that others can use: it is proved before it has its name."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL.Image import Image
from torch import Tensor

from counterpoint.data import Source, sample_images
from counterpoint.data.tensor_file import write_tensors
from counterpoint.export.card import CARD, SHEET, CardMaterial, card
from counterpoint.export.proof import Difference, prove
from counterpoint.export.proof_images import (
    Bytes,
    as_pictures,
    canvas,
    generated_images,
    odd_pictures,
    real_images,
    write_images,
)
from counterpoint.export.route import WEIGHTS, Loading, Route
from counterpoint.export.routes import ROUTES, choose_routes, refuse_missing
from counterpoint.export.subject import Subject
from counterpoint.report.contact_sheet import contact_sheet
from counterpoint.report.findings import Findings

PROOF = "proof.npz"
SHOWN = 4  # images on the contact sheet


@dataclass(frozen=True, slots=True)
class Export:
    """What was made: the folder, how each route is loaded, and how far it is from the run.

    >>> Export(Path("out"), {}, (), {"onnx": "onnx is not installed"}, width=256).left_out
    {'onnx': 'onnx is not installed'}
    """

    folder: Path
    loading: dict[str, Loading]
    differences: tuple[Difference, ...]
    left_out: dict[str, str]
    """Why other routes were not taken, by name."""
    width: int
    """The length of a vector."""


def write_export(
    subject: Subject,
    out: Path,
    *,
    only: Sequence[str] = (),
    source: Source | None = None,
    findings: Findings | None = None,
    routes: Sequence[Route] = ROUTES,
    say: Callable[[str], None] = lambda _: None,
) -> Export:
    """Write every route that applies, prove each in a fresh process, then give it the name `out`.

    The proof embeds images of `source`, or generated ones, which are then kept with their vectors
    in proof.npz. Where it fails nothing is left. `findings` are what the card says of the run.
    `say` is told what is being done.

    >>> from tempfile import TemporaryDirectory
    >>> from counterpoint import Run
    >>> from counterpoint.export.subject import subject_of
    >>> with TemporaryDirectory() as folder:
    ...     made = write_export(
    ...         subject_of(Run.open(run_folder)), Path(folder) / "out", only=["counterpoint"]
    ...     )
    ...     sorted(file.name for file in made.folder.iterdir())
    ['README.md', 'counterpoint.json', 'model.safetensors', 'proof.npz']
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"export: {out} is there already; needs a name that is free")
    if out.is_dir() and (held := next(iter(sorted(out.iterdir())), None)):
        raise ValueError(
            f"export: {out} is there already; needs a name that is free, or an empty folder: this "
            f"one has {held.name}. A folder .NAME.1234 was left by a killed export: delete it"
        )
    refuse_missing(only)
    chosen = choose_routes(subject, only, routes=routes)
    if not chosen.routes:
        reasons = "; ".join(f"{name}: {why}" for name, why in chosen.left_out.items())
        raise ValueError(f"export: no route is left ({reasons})")
    place = out.resolve()  # a link stays, and leads to what is written
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _unfinished(place)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        loading = _written(subject, unfinished, chosen.routes, say)
        images = _images(subject, source)
        pictures = as_pictures(images)
        pictures += odd_pictures(pictures[0])
        wanted = subject.representation(pictures, workers=0)
        say(f"proving {len(loading)} routes on {len(pictures)} images, each in a fresh process")
        differences = prove(unfinished, chosen.routes, loading, pictures, wanted)
        if source is None:
            write_images(unfinished / PROOF, images, wanted[: len(images)])
        else:
            _sheet(subject, source).save(unfinished / SHEET, optimize=True)
        material = CardMaterial(
            run=findings,
            subject=subject,
            routes=chosen.routes,
            loading=loading,
            differences=differences,
            width=wanted.shape[1],
            real=source is not None,
        )
        (unfinished / CARD).write_text(card(material), encoding="utf-8")
        _finish(unfinished, place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Export(out, loading, differences, chosen.left_out, wanted.shape[1])


def _unfinished(place: Path) -> Path:
    """Name the folder that is written first: inside of one that is there, else beside.

    One that is there stays: it may be the current folder, or a disk that is mounted there.
    """
    name = f".{place.name}.{os.getpid()}"
    return place / name if place.is_dir() else place.with_name(name)


def _finish(unfinished: Path, place: Path) -> None:
    """Move the proved files to their final place; into an existing folder the card moves last."""
    if unfinished.parent != place:
        unfinished.rename(place)
        return
    for file in sorted(unfinished.iterdir(), key=lambda file: file.name == CARD):
        file.rename(place / file.name)


def _written(
    subject: Subject, folder: Path, routes: Sequence[Route], say: Callable[[str], None]
) -> dict[str, Loading]:
    if any(WEIGHTS in route.files for route in routes):
        state: dict[str, Tensor] = subject.backbone.state_dict()
        write_tensors(folder / WEIGHTS, state, metadata={"format": "pt"})
    loading = {}
    for route in routes:
        say(f"writing {', '.join(route.files)} for {route.title}")
        loading[route.name] = route.write(subject, folder)
    return loading


def _images(subject: Subject, source: Source | None) -> Bytes:
    size = canvas(subject.representation)
    if source is not None:
        return real_images(source, size)
    return generated_images(subject.image[0], size)


def _sheet(subject: Subject, source: Source) -> Image:
    """Draw views of some images for the card."""
    some = sample_images(source, SHOWN, seed=0)
    return contact_sheet(subject.method.views, some, title=f"views of {source.name}", epochs=1)
