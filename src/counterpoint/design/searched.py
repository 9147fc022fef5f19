"""A search so far: its rounds, what its candidates found, and what they cost."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from counterpoint.design.candidate import Candidate
from counterpoint.design.design_settings import DesignSettings
from counterpoint.design.evolution import Judged, Round
from counterpoint.design.halving import SHARES, round_cost
from counterpoint.design.judging import same_figures, standing
from counterpoint.study.outcome import Outcome


@dataclass(slots=True)
class Searched:
    """A search so far: its rounds, and what the candidates found on each rung."""

    settings: DesignSettings
    rounds: list[Round] = field(default_factory=list)
    outcomes: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    """By the candidate's fingerprint and the number of the rung."""

    @property
    def candidates(self) -> dict[str, Candidate]:
        """All candidates that were run, by fingerprint, in their order."""
        return {c.fingerprint: c for one in self.rounds for c in one.candidates}

    @property
    def seen(self) -> set[str]:
        """Fingerprints of all that was proposed, refused ones included."""
        refused = {c.fingerprint for one in self.rounds for c, _ in one.refused}
        return refused | self.candidates.keys()

    @property
    def waiting(self) -> int:
        """Number of candidates that were not run yet."""
        return sum(
            (c.fingerprint, self.settings.rungs_of(one)[0].number) not in self.outcomes
            for one in self.rounds
            for c in one.candidates
        )

    @property
    def core_hours(self) -> float:
        """What all trials took of the processors, however busy these were with other things."""
        return sum(core_hours(outcome, self.settings) for outcome in self.outcomes.values())

    def hours_with(self, to_come: Iterable[bool]) -> float:
        """Return the core-hours after more rounds, if an operation costs what it did so far.

        `to_come` says of each round whether it is halved.
        """
        more = sum(round_cost(self.settings.candidates, halved=halved) for halved in to_come)
        return self.core_hours * (1 + more / self._begun)

    def hours_of(self, rounds: int, halved: int | None) -> float:
        """Return the core-hours of so many rounds, the first `halved` by halving, or all.

        An operation is taken to cost what it did in the trials that have ended. The last round may
        be under way.
        """
        size = self.settings.candidates
        to_come = [self.will_be_halved(one, halved) for one in range(len(self.rounds), rounds)]
        whole = self._begun + sum(round_cost(size, halved=one) for one in to_come)
        ended = sum(SHARES[rung] for _, rung in self.outcomes)
        return self.core_hours * whole / ended

    @property
    def _begun(self) -> float:
        """What the rounds that were begun cost, in full trials."""
        size = self.settings.candidates
        return sum(
            round_cost(size, halved=one.halved, first=len(one.candidates)) for one in self.rounds
        )

    def will_be_halved(self, number: int, halved: int | None) -> bool:
        """Whether a round to come is, if the first `halved` ones are, or all.

        A search that trains in full stays so: short trials were seen to mislead it.
        """
        begun = all(one.halved for one in self.rounds)
        return begun and (halved is None or number < halved)

    def standing(self, rung: int) -> dict[str, float]:
        """Return the standing of every candidate that was run on a rung."""
        figures = {n: o.figures for (n, number), o in self.outcomes.items() if number == rung}
        wanted = self.settings
        return standing(figures, criteria=wanted.criteria, probe=wanted.labels)

    @property
    def doubles(self) -> dict[str, str]:
        """The candidates that turned out to be an earlier one in other settings, with that one."""
        found: dict[str, str] = {}
        for rung in range(len(self.settings.rungs)):
            run = [name for name in self.candidates if (name, rung) in self.outcomes]
            found |= same_figures({name: self.outcomes[name, rung].figures for name in run})
        return found

    def judged(self) -> list[Judged]:
        """Return every candidate that was run, with the highest rung it reached; doubles once."""
        found: dict[str, Judged] = {}
        known, again = self.candidates, self.doubles
        for rung in range(len(self.settings.rungs)):
            for name, score in self.standing(rung).items():
                if name not in again:
                    found[name] = Judged(known[name], rung, score)
        return list(found.values())


def core_hours(outcome: Outcome, settings: DesignSettings) -> float:
    """Return what a trial took; by the clock where processor time was not counted yet."""
    return (outcome.cost.core_seconds or outcome.cost.seconds * settings.cpus) / 3600
