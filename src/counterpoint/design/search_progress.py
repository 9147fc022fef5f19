"""How far a search is, in lines for people: one for each trial, some at the end of a round."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from counterpoint.design.candidate import Candidate
from counterpoint.design.criterion_doubts import rotation_doubt
from counterpoint.design.evolution import Judged, Round, ranked
from counterpoint.design.halving import Rung
from counterpoint.design.judging import lost
from counterpoint.design.searched import Searched, core_hours
from counterpoint.framework.method import FIVE
from counterpoint.methods.kinship import changed_parts, short_parts
from counterpoint.progress import clock
from counterpoint.study.outcome import Outcome

WORDS = 44  # characters of what is new in a candidate


@dataclass
class SearchProgress:
    """A watcher that writes lines; `now` and `write` are the world's."""

    hours: float
    cores: int
    """That work at once, all trials together."""
    write: Callable[[str], object]
    rounds: int | None = None
    """After which the search ends, if the hours hold them."""
    halved: int | None = None
    """Rounds by successive halving, the first ones; all if not given."""
    now: Callable[[], float] = time.time
    began: float | None = None
    before: float = 0.0
    """Core-hours of earlier sittings."""
    needed: float = inf
    """Core-hours that all the rounds will take, as dear as the trials so far."""
    place: str = ""
    total: int = 0
    done: int = 0
    ended: int = 0
    """Trials of this sitting."""

    def round_wanted(self, number: int) -> None:
        self._say(f"round {number}: propose candidates, and refuse what cannot work")

    def round_begun(self, number: int, made: Round) -> None:
        refused = f", {len(made.refused)} refused before they ran" if made.refused else ""
        self._say(f"round {number}: {len(made.candidates)} candidates{refused}")
        self.place = f"round {number}"

    def rung_begun(self, rung: Rung, trials: int, done: int) -> None:
        self.place = f"{self.place.partition(',')[0]}, rung {rung.number}"
        self.total, self.done = trials, done
        if done:
            self._say(f"{self.place}: {done} of {trials} trials were done before")

    def trial_ended(self, outcome: Outcome, found: Searched) -> None:
        self.done += 1
        self.ended += 1
        if self.began is None:  # the first: what it took is of this sitting
            self.before = found.core_hours - core_hours(outcome, found.settings)
            self.began = self.now() - outcome.cost.seconds
        if self.rounds is not None:
            self.needed = found.hours_of(self.rounds, self.halved)
        what = outcome.trial.row if len(outcome.trial.row) <= WORDS else _cut(outcome.trial.row)
        self._say(
            f"{self.place}: {self.done} of {self.total}, {what}: {_state(outcome)}, "
            f"{outcome.cost.seconds:.0f} s; {self._left(found.core_hours)}"
        )

    def round_ended(self, number: int, found: Searched, pool: Sequence[Candidate]) -> None:
        self._say(round_words(number, found, self.hours))
        best = ranked(found.judged())
        for line in best_lines(best[0], found, pool) if best else ["nothing has lived so far"]:
            self._say(line)
        if doubt := rotation_doubt(found):
            self._say(doubt)

    def _left(self, spent: float) -> str:
        """Say when the hours are used, by the clock and by how fast they went so far."""
        assert self.began is not None
        passed = self.now() - self.began
        early = self.ended < 2 * self.cores or passed <= 0  # others are still on their first
        rate = self.cores if early else (spent - self.before) * 3600 / passed
        left = max(0.0, min(self.hours, self.needed) - spent) * 3600 / max(rate, 1e-9)
        ends = time.strftime("%a %H:%M", time.localtime(self.now() + left))
        return f"{clock(left)} left, until {ends}"

    def _say(self, line: str) -> None:
        self.write(line + "\n")


def round_words(number: int, found: Searched, hours: float) -> str:
    """Say what became of a round."""
    names = {one.fingerprint for one in found.rounds[number].candidates}
    own = [outcome for (name, _), outcome in found.outcomes.items() if name in names]
    counted = Counter(_state(outcome).partition(":")[0] for outcome in own)
    bad = "".join(f", {n} {state}" for state, n in sorted(counted.items()) if state != "done")
    same = len(names & found.doubles.keys())
    bad += f", {same} the same as an earlier one" if same else ""
    all_of_them = len(found.candidates)
    return (
        f"round {number} ended: {len(own)} trials{bad}; {all_of_them} candidates in "
        f"{found.core_hours:.2f} of {hours:g} core-hours"
    )


def best_lines(best: Judged, found: Searched, pool: Sequence[Candidate]) -> list[str]:
    """Describe the best candidate: its figures, its five parts, its nearest known method."""
    name = best.candidate.fingerprint
    figures = found.outcomes[name, best.rung].figures
    shown = ", ".join(
        f"{figure} {value:.4g}" for figure, value in figures.items() if figure != "collapsed"
    )
    lines = [f"best so far: {name}, rung {best.rung}, standing {best.score:.3f}", f"  {shown}"]
    parts = short_parts(best.candidate.method)
    lines += [f"  {part:<12}{words}" for part, words in zip(FIVE, parts, strict=True)]
    return [*lines, f"  {nearest_words(best.candidate, pool)}"]


def nearest_words(candidate: Candidate, pool: Sequence[Candidate]) -> str:
    """Say which known method is nearest, and which parts are of another kind."""
    own = [one for one in pool if one.fingerprint == candidate.fingerprint]
    changed = {one.change: changed_parts(candidate.method, one.method) for one in own or pool}
    name = min(changed, key=lambda one: len(changed[one]))
    if not changed[name]:
        same = any(one.fingerprint == candidate.fingerprint for one in pool)
        return f"it is {name}" if same else f"the parts of {name}, other settings"
    count = len(changed[name])
    parts = "1 part" if count == 1 else f"{count} parts"
    return f"{parts} from {name}: {', '.join(changed[name])}"


def _state(outcome: Outcome) -> str:
    if outcome.state == "failed":
        return f"failed: {outcome.error.splitlines()[0] if outcome.error else 'it said nothing'}"
    return "collapsed" if lost(outcome.figures) else "done"


def _cut(words: str) -> str:
    return words[: WORDS - 1] + "…"
