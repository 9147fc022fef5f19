"""Trials that cost nothing: figures drawn by the candidate and the rung."""

from random import Random

from counterpoint.study import Cost, Outcome
from counterpoint.study.trial import Trial

SECONDS = 90.0


def figures(trial: Trial) -> dict[str, float]:
    """Figures that a trial always has: one in eight collapses."""
    rng = Random(trial.name + trial.column)  # not by where the data lies
    drawn = {name: rng.random() for name in trial.criteria} | {"lr": 1e-3}
    drawn |= {"collapsed": float(rng.random() < 1 / 8)}
    return drawn | {f"{probe} validation": rng.random() for probe in trial.probes}


class Pretended:
    """A runner that draws outcomes; it can be made to end after some, and to fail some."""

    def __init__(self, *, most=10**9, failing=lambda trial: False, backwards=False, drawn=figures):
        self.most, self.failing, self.backwards = most, failing, backwards
        self.drawn = drawn
        self.ran = []

    def __call__(self, trials, store):
        for trial in reversed(trials) if self.backwards else trials:
            if len(self.ran) == self.most:
                raise KeyboardInterrupt
            self.ran.append(trial)
            outcome = Outcome(
                trial=trial,
                fingerprint=trial.fingerprint,
                state="failed" if self.failing(trial) else "done",
                figures={} if self.failing(trial) else self.drawn(trial),
                cost=Cost() if self.failing(trial) else Cost(seconds=SECONDS),
                error="RuntimeError: made to crash" if self.failing(trial) else "",
            )
            store.keep(outcome)
            yield outcome


class Silent:
    """A watcher that keeps what it is told."""

    def __init__(self):
        self.rounds = []

    def round_wanted(self, number):
        pass

    def round_begun(self, number, made):
        pass

    def rung_begun(self, rung, trials, done):
        pass

    def trial_ended(self, outcome, found):
        pass

    def round_ended(self, number, found, pool):
        self.rounds.append(number)
