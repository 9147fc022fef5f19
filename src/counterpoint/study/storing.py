"""Where results are kept: one folder per trial, on any path that fsspec knows."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]

from counterpoint.study.outcome import Outcome, fingerprint_in
from counterpoint.study.trial import Trial

FILE = "outcome.json"


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of results: ./results, /shared/results, s3://bucket/results, memory://results."""

    root: str

    def find(self, trial: Trial) -> Outcome | None:
        """Read what a trial found, if it was done; one that failed may be tried again."""
        system, place = self._at(trial.key)
        if not system.exists(f"{place}/{FILE}"):
            return None
        text = system.cat_file(f"{place}/{FILE}").decode()
        if fingerprint_in(text) != trial.fingerprint:
            return None
        found = Outcome.from_json(text)
        return found if found.state == "done" else None

    def keep(self, outcome: Outcome) -> None:
        """Write an outcome; it is whole or not there."""
        system, place = self._at(outcome.trial.key)
        system.makedirs(place, exist_ok=True)
        written = outcome.to_json().encode()
        if not self.local:  # an object appears when all of it has arrived
            system.pipe_file(f"{place}/{FILE}", written)
            return
        handle, new = tempfile.mkstemp(dir=place, prefix=FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        Path(new).replace(Path(place) / FILE)

    def every(self) -> list[Outcome]:
        """Read all outcomes in the order of their names."""
        system, place = self._at("")
        files = sorted(system.glob(f"{place.rstrip('/')}/*/{FILE}"))
        return [Outcome.from_json(system.cat_file(file).decode()) for file in files]

    @property
    def local(self) -> bool:
        """Whether the folder is one of this machine, or mounted like one."""
        return "file" in _protocols(self._at("")[0])

    def workplace(self, trial: Trial) -> Path:
        """Give the folder that a trial works in.

        In a local or mounted folder the checkpoints lie beside the results, and any machine that
        sees them goes on from there; else in the scratch folder of the machine.
        """
        if self.local:
            return Path(self._at(trial.key)[1])
        scratch = os.environ.get("COUNTERPOINT_SCRATCH", tempfile.gettempdir())
        return Path(scratch) / "counterpoint-study" / trial.key

    def _at(self, key: str) -> tuple[Any, str]:
        system, place = fsspec.core.url_to_fs(self.root)
        return system, f"{place.rstrip('/')}/{key}"


def _protocols(system: Any) -> tuple[str, ...]:
    kinds = system.protocol
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)
