"""A job: all that a training run is."""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from counterpoint.data import Source
from counterpoint.framework import Method, Model
from counterpoint.framework.settings import MACHINE, Training
from counterpoint.job_record import JobRecord
from counterpoint.methods import RECIPES, recipe_of
from counterpoint.run_files import MODEL
from counterpoint.training.initial_weights import InitialWeights


@dataclass(frozen=True, slots=True)
class Start:
    """The run whose weights a job starts from."""

    folder: Path
    steps: int
    weights: str
    """A digest of its model.safetensors."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; of the folder its own name, since records are passed on."""
        return {**asdict(self), "folder": self.folder.name}

    def __str__(self) -> str:
        return (
            f"the weights of {self.folder.name} after {self.steps:,} steps; "
            "optimiser, schedule and epochs begin anew"
        )


@dataclass(frozen=True, eq=False)
class Job:
    """What is trained, on what, how and for how long: nothing is left to be looked up."""

    method: Method
    source: Source
    """The images that training sees."""
    image: tuple[int, ...]
    """The shape that the method is built for."""
    training: Training
    steps: int
    workers: int
    """Processes that read the images; they change nothing else."""
    origin: str
    """Where the training settings come from, in words."""
    size: int | None = None
    """The side of views that was asked for."""
    name: str | None = None
    """The name of the method in `METHODS`, where it is one of those."""
    encoder: str | None = None
    """The name of an encoder that was asked for besides."""
    start: Start | None = None
    weights: InitialWeights | None = None
    """The weights that the encoder starts from."""

    @property
    def epoch(self) -> int:
        """Steps of an epoch."""
        return len(self.source) // self.training.batch

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What a checkpoint belongs to: whatever changes the weights."""
        begun = {} if self.start is None else {"start": self.start.weights}
        begun |= {} if self.weights is None else {"weights": self.weights.sha256}
        return {
            "method": self.method.fingerprint,
            "data": self.source.fingerprint(),
            "image": self.image,
            "training": {k: v for k, v in asdict(self.training).items() if k not in MACHINE},
            "steps": self.steps,
            **begun,
        }

    @property
    def record(self) -> JobRecord:
        """The job as plain data."""
        return JobRecord(
            method=self.method.fingerprint,
            name=self.name,
            encoder=self.encoder,
            recipe=self.name if self.name in RECIPES else recipe_of(self.method),
            data=self.source.describe(),
            image=self.image,
            size=self.size,
            training=self.training,
            steps=self.steps,
            workers=self.workers,
            origin=self.origin,
            start=None if self.start is None else self.start.to_dict(),
            weights=None if self.weights is None else self.weights.to_dict(),
        )

    def command(self, *, data: str, out: str, **more: Any) -> list[str]:
        """Return the words of the command that repeats it; `JobRecord.command` says how."""
        return self.record.command(data=data, out=out, **more)


def load_start(model: Model, start: Start) -> None:
    """Load the weights that a job starts from.

    What an extraction remembers of other images than these, as a bank does, is left out.
    """
    found = load_file(start.folder / MODEL)
    own = model.state_dict()
    other = [
        key
        for key, value in found.items()
        if key.startswith("extraction.") and key in own and own[key].shape != value.shape
    ]
    kept = {key: own[key] for key in other}
    model.load_state_dict(found | kept)
