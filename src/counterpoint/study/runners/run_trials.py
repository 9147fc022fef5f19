"""What every runner of trials is to those who call it."""

from collections.abc import Callable, Iterator, Sequence

from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.trial import Trial

RunTrials = Callable[[Sequence[Trial], ResultStore], Iterator[Outcome]]
"""Runs trials, once each, and yields outcomes as they are ready; a failed one is an outcome."""
