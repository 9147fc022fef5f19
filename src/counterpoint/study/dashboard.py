"""A study at a glance, while it runs: how many are where, when it ends, what is best so far."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from rich.markup import escape
from rich.table import Table

from counterpoint.report.words import duration, percent
from counterpoint.study.runners.events import Event, State
from counterpoint.study.tables.figure_kind import figure_kind


@dataclass
class Progress:
    """The state of every trial, told by a runner's events from any thread."""

    figure: str = "linear"
    at_once: int = 1
    clock: Callable[[], float] = time.monotonic
    events: dict[str, Event] = field(default_factory=dict)
    """The last event of each trial, by its fingerprint."""
    began: dict[str, float] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held by readers too: `tell` may have noted the state of a trial and not yet when it began. A
    thread may take it twice, since `table` calls the methods above."""

    def tell(self, event: Event) -> None:
        """Note what happened to a trial."""
        with self.lock:
            key = event.trial.fingerprint
            self.events[key] = event
            if event.state == "running":
                self.began[key] = self.clock()
            elif event.state in ("done", "failed") and key in self.began:
                self.took.append(self.clock() - self.began[key])

    def count(self, *states: State) -> int:
        with self.lock:
            counted = Counter(event.state for event in self.events.values())
        return sum(counted[state] for state in states)

    def left_seconds(self) -> float | None:
        """Estimate the time to the end from what took how long; None before the first."""
        with self.lock:
            if not self.took:
                return None
            mean = sum(self.took) / len(self.took)
            running = [k for k, event in self.events.items() if event.state == "running"]
            now = self.clock()
            rest = sum(max(mean - (now - self.began[key]), 0.0) for key in running)
            slots = max(self.at_once, len(running), 1)
            return (rest + mean * self.count("waiting", "again")) / slots

    def best(self) -> dict[str, tuple[str, float]]:
        """Return for each column the row that is ahead, and its figure for one seed.

        No row is ahead in a figure that has no better and worse, such as the learning rate. What
        was trained with labels is a mark, as in tables.
        """
        kind = figure_kind(self.figure)
        found: dict[str, tuple[str, float]] = {}
        with self.lock:
            events = list(self.events.values())
        for event in events:
            if event.outcome is None or self.figure not in event.outcome.figures:
                continue
            value, trial = event.outcome.figures[self.figure], event.trial
            if not kind.ranked or not isfinite(value) or trial.kind == "supervised":
                continue
            if trial.column not in found or kind.merit(value) > kind.merit(found[trial.column][1]):
                found[trial.column] = (trial.row, value)
        return found

    def table(self) -> Table:
        """Show it all."""
        with self.lock:
            left = self.left_seconds()
            shown = Table(title_justify="left", show_header=False)
            states = [
                f"{count} {state}"
                for state in ("done", "running", "waiting", "again", "failed")
                if (count := self.count(state))
            ]
            shown.add_row("trials", ", ".join(states))
            shown.add_row("left", "not known yet" if left is None else f"about {duration(left)}")
            kind = figure_kind(self.figure)
            for column, (row, value) in self.best().items():
                written = percent(value) if kind.percent else kind.number(value)
                best = f"{row}: {written} {self.figure}"
                shown.add_row(escape(f"best so far, {column}"), escape(best))
            for event in self.events.values():
                if event.state in ("again", "failed"):
                    shown.add_row(event.trial.key, escape(f"{event.state}: {event.why[-200:]}"))
        return shown
