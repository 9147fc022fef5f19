"""Where results are kept: one folder per trial, on any path that fsspec knows."""

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from counterpoint.study.outcome import Outcome, fingerprint_in
from counterpoint.study.trial import Trial
from counterpoint.whole_file import write_whole

FILE, PLAN = "outcome.json", "study.json"


@dataclass(frozen=True, slots=True)
class ResultStore:
    """A folder of results: ./results, /shared/results, s3://bucket/results, memory://results.

    >>> from counterpoint.study.budget import Images
    >>> trial = Trial(method="cpc", data="x", budget=Images(10))
    >>> store = ResultStore("memory://example")
    >>> store.keep(Outcome(trial=trial, fingerprint=trial.fingerprint, figures={"knn": 0.5}))
    >>> store.find(trial).figures
    {'knn': 0.5}
    """

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
        self._write(f"{outcome.trial.key}/{FILE}", outcome.to_json())

    def plan(self, trials: Sequence[Trial]) -> None:
        """Write down which trials a study has, in their order; the list is whole or the old one."""
        listed = [{"fingerprint": t.fingerprint, "trial": json.loads(t.to_json())} for t in trials]
        self._write(PLAN, json.dumps(listed, indent=1) + "\n")

    def planned(self) -> list[tuple[str, Trial]]:
        """Read the trials of the study that was last run here, by fingerprint."""
        system, place = self._at(PLAN)
        if not system.exists(place):
            return []
        listed = json.loads(system.cat_file(place).decode())
        return [(one["fingerprint"], Trial.from_json(json.dumps(one["trial"]))) for one in listed]

    def every(self) -> list[Outcome]:
        """Read all outcomes in the order of their names."""
        system, place = self._at("")
        # Not by a pattern: the name of the folder may have brackets in it.
        found = system.find(place.rstrip("/"), maxdepth=2)
        files = sorted(file for file in found if file.endswith(f"/{FILE}"))
        return [Outcome.from_json(system.cat_file(file).decode()) for file in files]

    @property
    def local(self) -> bool:
        """Whether the folder is one of this machine, or mounted like one."""
        return "file" in _protocols(self._at("")[0])

    def workplace(self, trial: Trial) -> Path:
        """Return the folder that a trial works in.

        In a local or mounted folder the checkpoints lie beside the results, and any machine that
        sees them resumes from there; else in the scratch folder of the machine.
        """
        if self.local:
            return Path(self._at(trial.key)[1])
        return scratch() / hashlib.sha256(self.root.encode()).hexdigest()[:16] / trial.key

    def _write(self, key: str, text: str) -> None:
        system, place = self._at(key)
        if self.local:
            write_whole(Path(place), text)
        else:  # an object appears when all of it has arrived
            system.makedirs(place.rpartition("/")[0], exist_ok=True)
            system.pipe_file(place, text.encode())

    def _at(self, key: str) -> tuple[Any, str]:
        system, place = fsspec.core.url_to_fs(self.root)
        return system, f"{place.rstrip('/')}/{key}"


def _protocols(system: Any) -> tuple[str, ...]:
    kinds = system.protocol
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def scratch() -> Path:
    """Return a folder of this machine that only this user can enter.

    It has the same name each time, so that a trial which comes back goes on; so it is looked at
    before it is used: somebody else may have made it.
    """
    asked = os.environ.get("COUNTERPOINT_SCRATCH")
    if asked:
        return Path(asked)
    place = Path(tempfile.gettempdir()) / f"counterpoint-study-{os.getuid()}"
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ValueError(
            f"study: {place} is not a folder that only you can enter; remove it, or set "
            "COUNTERPOINT_SCRATCH to one that is"
        )
    return place
