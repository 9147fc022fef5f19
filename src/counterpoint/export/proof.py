"""The proof of an export: every route is loaded in a fresh process and embeds the same images."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from PIL.Image import Image
from torch import Tensor

from counterpoint.export.proof_images import write_pictures
from counterpoint.export.route import Loading, Route
from counterpoint.failures import RunFailure

IMAGES = "images"
BOUND = 1e-4
"""Of the largest absolute value of all vectors."""
BATCHES = (1, 5, 61)
"""Of different sizes, so that a number of images that is burnt in is found."""
SHOWN = 300  # characters of an error
PATIENCE = 900.0  # seconds: some networks take minutes to load

# It sees the folder, the images and the lines of the card; of ours nothing, unless they say so.
# A route may import what it says it does; what earlier ones imported needed less than that.
PROGRAM = """
import json
import sys
import time
from pathlib import Path

images, home, jobs = sys.argv[1:]
without = []

class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in without:
            raise ModuleNotFoundError(f"{name} was imported, which this route does not need")

sys.meta_path.insert(0, Wall())
if home:
    sys.path.insert(0, home)
import numpy as np
from PIL import Image

pictures = [Image.open(file) for file in sorted(Path(images).iterdir())]
for name, lines, out, kept_out in json.loads(jobs):
    without[:] = kept_out
    started, space, vectors, first = time.process_time(), {}, [], 0
    try:
        exec(compile(open(lines).read(), lines, "exec"), space)
        for count in BATCHES:
            vectors.append(np.asarray(space["embed"](pictures[first : first + count])))
            first += count
    except Exception as error:
        sys.exit(f"the lines that load {name} fail: {type(error).__name__}: {error}")
    np.savez(out, vectors=np.concatenate(vectors), seconds=time.process_time() - started)
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a route's vectors are from the run's own."""

    route: str
    absolute: float
    relative: float
    """Of the largest absolute value of all vectors."""
    seconds: float
    """Of the processor, to load it and to embed all images."""

    @property
    def holds(self) -> bool:
        return self.relative <= BOUND  # and not where it is nan


class ProofFailure(RunFailure):
    """An export that is not what was trained; nothing of it is kept."""


def prove(
    folder: Path,
    routes: Sequence[Route],
    loading: Mapping[str, Loading],
    pictures: Sequence[Image],
    wanted: Float[Tensor, "image feature"],
) -> tuple[Difference, ...]:
    """Load every route in a fresh process, embed the pictures, and compare with the run.

    Routes that need no Counterpoint share a process, the one that needs least first; processes run
    side by side. Raises `ProofFailure` with the first route that fails, or that differs by more
    than `BOUND`.
    """
    with tempfile.TemporaryDirectory(prefix="counterpoint-proof-") as name:
        place = Path(name)
        (place / IMAGES).mkdir()
        write_pictures(place / IMAGES, pictures)
        for route in routes:
            (place / f"{route.name}.py").write_text(loading[route.name].lines)
        jobs = [_start(folder, place, group) for group in route_groups(routes)]
        try:
            for job in jobs:
                _finish(job)
        finally:
            for job in jobs:
                job.kill()
                job.wait()
        return tuple(_difference(route.name, place, wanted) for route in routes)


def route_groups(routes: Sequence[Route]) -> list[list[Route]]:
    """Put routes into processes: each may import all that those before it in its process may."""
    groups: list[list[Route]] = []
    for route in sorted(routes, key=lambda one: -len(one.without)):
        fitting = (group for group in groups if {*route.without} <= {*group[-1].without})
        group = next(fitting, None)
        if group is None:
            groups.append([route])
        else:
            group.append(route)
    return groups


def _start(folder: Path, place: Path, group: Sequence[Route]) -> subprocess.Popen[str]:
    jobs = [
        (r.name, str(place / f"{r.name}.py"), str(place / f"{r.name}.npz"), r.without)
        for r in group
    ]
    ours = any("counterpoint" not in route.without for route in group)
    home = str(Path(__file__).parents[2]) if ours else ""
    program = PROGRAM.replace("BATCHES", repr(BATCHES))
    return subprocess.Popen(  # noqa: S603 (our own program, in this interpreter)
        [sys.executable, "-I", "-c", program, str(place / IMAGES), home, json.dumps(jobs)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(job: subprocess.Popen[str]) -> None:
    _, said = job.communicate(timeout=PATIENCE)
    if job.returncode:
        start = said.rfind("the lines that load")
        words = " ".join(said[max(start, 0) :].split())[:SHOWN]
        raise ProofFailure(f"export: {words or 'a process of the proof was killed'}")


def _difference(name: str, place: Path, wanted: Float[Tensor, "image feature"]) -> Difference:
    found = np.load(place / f"{name}.npz")
    vectors = torch.from_numpy(found["vectors"])
    if vectors.shape != wanted.shape:
        raise ProofFailure(
            f"export: {name} gives vectors {tuple(vectors.shape)}, the run {tuple(wanted.shape)}"
        )
    absolute = float((vectors - wanted).abs().max())
    relative = absolute / float(wanted.abs().max())
    difference = Difference(name, absolute, relative, float(found["seconds"]))
    if not difference.holds:
        raise ProofFailure(
            f"export: {name} gives other vectors than the run: the largest difference is "
            f"{absolute:.2g}, {relative:.2g} of the largest value, and the bound is {BOUND:g}; "
            "nothing was kept"
        )
    return difference
