"""What a runner says while it works."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from counterpoint.study.outcome import Outcome
from counterpoint.study.trial import Trial

State = Literal["waiting", "running", "again", "done", "failed"]
"""`again`: it failed, or its process or machine died; it waits for another attempt."""


@dataclass(frozen=True, slots=True)
class Event:
    """A trial changed state: why, if that needs words, and its outcome at the end."""

    trial: Trial
    state: State
    why: str = ""
    outcome: Outcome | None = None


Tell = Callable[[Event], None]


def nobody(_event: Event) -> None:
    """Ignore events."""
