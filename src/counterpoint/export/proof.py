"""The proof of an export: every route is loaded in a fresh process and embeds the same images."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.export.proof_images import Bytes, write_images
from counterpoint.export.route import Loading, Route
from counterpoint.failures import RunFailure

BOUND = 1e-4
"""Of the largest absolute value of all vectors."""
BATCHES = (1, 5, 58)
"""Of different sizes, so that a number of images that is burnt in is found."""
SHOWN = 300  # characters of an error
PATIENCE = 900.0  # seconds: some networks take minutes to load

# It sees the folder, the images and the lines of the card; of ours nothing, unless they say so.
PROGRAM = """
import sys

images, lines, out, home, *without = sys.argv[1:]

class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in without:
            raise ModuleNotFoundError(f"{name} was imported, which this route does not need")

sys.meta_path.insert(0, Wall())
if home:
    sys.path.insert(0, home)
import numpy as np
from PIL import Image

stored = np.load(images)["images"]
pictures = [Image.fromarray(image[..., 0] if image.shape[2] == 1 else image) for image in stored]
space = {}
exec(compile(open(lines).read(), lines, "exec"), space)
vectors, first = [], 0
for count in BATCHES:
    vectors.append(np.asarray(space["embed"](pictures[first : first + count])))
    first += count
np.save(out, np.concatenate(vectors))
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a route's vectors are from the run's own."""

    route: str
    absolute: float
    relative: float
    """Of the largest absolute value of all vectors."""
    seconds: float
    """From the start of its process until it had embedded all images."""

    @property
    def holds(self) -> bool:
        return self.relative <= BOUND  # and not where it is nan


class ProofFailure(RunFailure):
    """An export that is not what was trained; nothing of it is kept."""


def prove(
    folder: Path,
    routes: Sequence[Route],
    loading: Mapping[str, Loading],
    images: Bytes,
    wanted: Float[Tensor, "image feature"],
) -> tuple[Difference, ...]:
    """Load every route in a process of its own, embed the images, and compare with the run.

    The routes run side by side. Raises `ProofFailure` with the first that fails, or that differs
    by more than `BOUND`.
    """
    with tempfile.TemporaryDirectory(prefix="counterpoint-proof-") as place:
        write_images(Path(place) / "images.npz", images)
        started = time()
        jobs = {r.name: _start(folder, Path(place), r, loading[r.name]) for r in routes}
        try:
            found = []
            for name, job in jobs.items():
                out = Path(place) / f"{name}.npy"
                found.append(_difference(name, job, out, wanted, started))
        finally:
            for job in jobs.values():
                job.kill()
                job.wait()
    return tuple(found)


def _start(folder: Path, place: Path, route: Route, loading: Loading) -> subprocess.Popen[str]:
    lines = place / f"{route.name}.py"
    lines.write_text(loading.lines)
    ours = "" if "counterpoint" in route.without else str(Path(__file__).parents[2])
    program = PROGRAM.replace("BATCHES", repr(BATCHES))
    given = [place / "images.npz", lines, place / f"{route.name}.npy", ours, *route.without]
    return subprocess.Popen(  # noqa: S603 (our own program, in this interpreter)
        [sys.executable, "-I", "-c", program, *map(str, given)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _difference(
    name: str,
    job: subprocess.Popen[str],
    out: Path,
    wanted: Float[Tensor, "image feature"],
    started: float,
) -> Difference:
    _, said = job.communicate(timeout=PATIENCE)
    if job.returncode:
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "no word")
        raise ProofFailure(f"export: the lines that load {name} fail: {last[:SHOWN]}")
    vectors = torch.from_numpy(np.load(out))
    if vectors.shape != wanted.shape:
        raise ProofFailure(
            f"export: {name} gives vectors {tuple(vectors.shape)}, the run {tuple(wanted.shape)}"
        )
    absolute = float((vectors - wanted).abs().max())
    seconds = out.stat().st_mtime - started
    difference = Difference(name, absolute, absolute / float(wanted.abs().max()), seconds)
    if not difference.holds:
        raise ProofFailure(
            f"export: {name} gives other vectors than the run: the largest difference is "
            f"{absolute:.2g}, {difference.relative:.2g} of the largest value, and the bound is "
            f"{BOUND:g}; nothing was kept"
        )
    return difference
