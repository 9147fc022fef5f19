"""What a trial found: figures, cost and versions, as one JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite, nan
from typing import Any, Literal

from counterpoint.study.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a trial took, the choice of its learning rate included.

    >>> Cost(images=45_000, steps=352).attempts
    1
    """

    images: int = 0
    """Images seen in training."""
    steps: int = 0
    flops: float = 0.0
    """Of training: forward and backward."""
    seconds: float = 0.0
    """Wall time of all attempts, evaluation included; a failed trial has its own too."""
    core_seconds: float = 0.0
    """Processor time of the same, over all threads: what it took of the machine, however busy with
    other things that was. 0 in outcomes of before it was counted."""
    peak_mb: float = 0.0
    choosing_images: int = 0
    """Of the images and operations above, those that the choice of a learning rate took."""
    choosing_flops: float = 0.0
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one trial; a failed one has its error and no figures.

    >>> from counterpoint.study.budget import Images
    >>> trial = Trial(method="cpc", data="x", budget=Images(10))
    >>> found = Outcome(trial=trial, fingerprint=trial.fingerprint, figures={"knn": 0.5})
    >>> Outcome.from_json(found.to_json()) == found
    True
    """

    trial: Trial
    fingerprint: str
    """Of the trial when it ran: a file of parts may have changed since."""
    state: Literal["done", "failed"] = "done"
    figures: Mapping[str, float] = field(default_factory=dict)
    """Test accuracy of each probe by its name, `validation` beside it, each criterion, and the rate
    used. What could not be measured is nan; JSON has no such number, and there it is null."""
    right: Mapping[str, str] = field(default_factory=dict)
    """For each probe which test images it got right, as hexadecimal digits."""
    tested: int = 0
    """How many test images there are."""
    cost: Cost = field(default_factory=Cost)
    versions: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    """Fingerprint of the method."""
    data: str = ""
    """Fingerprint of the training images."""
    error: str = ""

    def to_json(self) -> str:
        figures = {key: value if isfinite(value) else None for key, value in self.figures.items()}
        trial = json.loads(self.trial.to_json())
        record = asdict(self) | {"trial": trial, "figures": figures}
        return json.dumps(record, indent=2, sort_keys=True, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Outcome":
        record: dict[str, Any] = json.loads(text)
        trial = Trial.from_json(json.dumps(record.pop("trial")))
        cost = Cost(**record.pop("cost"))
        written: dict[str, float | None] = record.pop("figures")
        figures = {key: nan if value is None else value for key, value in written.items()}
        return cls(trial=trial, cost=cost, figures=figures, **record)


def fingerprint_in(text: str) -> str:
    """Read whose outcome this is, whatever version wrote it; nothing where it is not an outcome.

    >>> fingerprint_in('{"fingerprint": "00aa"}'), fingerprint_in('{"half a fi')
    ('00aa', '')
    """
    try:
        return str(json.loads(text)["fingerprint"])
    except (ValueError, KeyError, TypeError):
        return ""
