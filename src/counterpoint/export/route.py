"""What a route is: one way from a run to files, and from the files back to vectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from counterpoint.export.subject import Subject

WEIGHTS = "model.safetensors"
"""The backbone under the key names of its library; several routes load the same file."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How files are loaded: lines of Python that define `embed(pictures)`, and a remark.

    The lines are run in the folder, and are what both the proof runs and the card prints. Pictures
    are PIL images; what comes back is an array with a row for each.
    """

    lines: str
    remark: str = ""


@runtime_checkable
class Route(Protocol):
    """A way to load an export."""

    @property
    def name(self) -> str:
        """What `--only` calls it."""

    @property
    def title(self) -> str:
        """What the card calls it."""

    @property
    def files(self) -> tuple[str, ...]:
        """What it needs in the folder."""

    @property
    def without(self) -> tuple[str, ...]:
        """Packages that its lines do not need; the proof keeps them from being imported."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages of the extra that writing it needs."""

    def refusal(self, subject: Subject, /) -> str | None:
        """Say why this network cannot be exported so; None if it can."""

    def write(self, subject: Subject, folder: Path, /) -> Loading:
        """Write its files beside the weights, and return how they are loaded."""
