"""What is decided once, before a trial trains, and kept for when it resumes."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from counterpoint.study.trial import Trial
from counterpoint.whole_file import write_json

FILE = "settled.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How many steps a budget is, which learning rate was chosen, and what choosing took."""

    fingerprint: str
    steps: int
    lr: float
    flops: float
    """Of one step."""
    choosing_steps: int = 0
    whole: bool = True
    """Whether the learning rate is decided too: the steps are before it, and stay."""


def settled_before(folder: Path, trial: Trial) -> Settled | None:
    """Read what an earlier attempt decided; None if there was none."""
    file = folder / FILE
    if not file.is_file():
        return None
    found = Settled(**json.loads(file.read_text()))
    return found if found.fingerprint == trial.fingerprint else None


def settle(folder: Path, settled: Settled) -> Settled:
    """Keep a decision, whole or not at all."""
    write_json(folder / FILE, asdict(settled))
    return settled
