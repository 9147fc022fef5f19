"""Who stands still: from what the ranks say, as a function without clocks, threads or sockets.

1. A rank that says nothing for `patience` seconds has died, was stopped, or cannot be reached.
2. A rank whose worker owes a batch and does nothing for so long says so itself.
3. A rank that does not move for so long, in a phase that never waits for another, stands still.
4. When no rank moves for so long, those that do not wait for the others hold them up; when all
   wait, the exchange itself hangs.

A run that was asked to stop, and in which nothing moves, cannot save: it ends sooner.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from counterpoint.training.watchdog.status import LONG, RankStatus

GRACE = 5.0  # seconds without a move after a wish to stop: schedulers kill after 10 to 30
SLOWER = 3.0  # times the longest wait before it, which a slow step may take
FORGOTTEN = 0.9  # of the longest wait with every move: a step has several, the first is the slowest


@dataclass(frozen=True, slots=True)
class Stall:
    """Why the ranks end themselves."""

    ranks: tuple[int, ...]
    """Those that hold up the others."""
    why: str
    code: int = 1
    silent: bool = False

    def words(self, names: Mapping[int, str] | Sequence[str], then: str, *, seen: str = "") -> str:
        """Say it, with a name for every rank, what the system has `seen`, and what follows."""
        who = ", ".join(names[rank] for rank in self.ranks)
        asked = "asked to stop, but no checkpoint could be written: " if self.code > 1 else ""
        return f"{asked}{who} {self.why}{seen}; {then}"


@dataclass(slots=True)
class _Seen:
    said: RankStatus = field(default_factory=RankStatus)
    silent: float = 0.0
    still: float = 0.0


class Judge:
    """Look at all ranks again and again; seconds are those in which the judge itself ran.

    >>> judge = Judge(1, patience=10)
    >>> judge.look([RankStatus(tick=1, phase="loading a batch", alone=True)], 5.0)
    >>> judge.look([RankStatus(tick=2, phase="loading a batch", alone=True)], 6.0).why
    'has not moved for 11 s while loading a batch'
    """

    def __init__(self, ranks: int, *, patience: float) -> None:
        self.patience = patience
        self.seen = [_Seen() for _ in range(ranks)]
        self.still = self.longest = 0.0

    def look(
        self, said: Sequence[RankStatus | None], elapsed: float, computing: Collection[int] = ()
    ) -> Stall | None:
        """Take what every rank says now (None: nothing new) and judge.

        `computing` are ranks that are seen to compute, whatever they say: a call that holds
        Python's lock silences them. They have ten times the patience.
        """
        for rank, (seen, now) in enumerate(zip(self.seen, said, strict=True)):
            if seen.said.over:
                continue
            lives = now is not None and now.tick > seen.said.tick
            moves = now is not None and now.count != seen.said.count
            passed = elapsed / LONG if rank in computing and not lives else elapsed
            seen.silent = 0.0 if lives else seen.silent + passed
            seen.still = 0.0 if moves else seen.still + passed
            seen.said = now or seen.said
            if seen.said.over:
                seen.silent = seen.still = 0.0  # nobody waits for it any more
        still = min((seen.still for seen in self.seen if not seen.said.over), default=0.0)
        if still < self.still:
            self.longest = max(FORGOTTEN * self.longest, self.still)
        self.still = still
        return self._asked() or self._judged()

    def _judged(self) -> Stall | None:
        for rank, seen in enumerate(self.seen):
            if seen.silent > self.patience:
                why = f"has given no sign of life for {seen.silent:.0f} s"
                return Stall((rank,), why=why, silent=True)
            if seen.said.trouble:
                return self._verdict([rank])
            if seen.said.alone and seen.still > self.patience:
                return self._verdict([rank])
        return self._verdict(self._holding()) if self.still > self.patience else None

    def _asked(self) -> Stall | None:
        """End a run that was asked to stop and cannot."""
        code = max(seen.said.asked for seen in self.seen)
        enough = min(self.patience, max(GRACE, SLOWER * self.longest))
        if not code or self.still < enough:
            return None
        return self._verdict(self._holding(), code)

    def _holding(self) -> list[int]:
        """List the ranks for which the others wait; all of them when nobody is to blame."""
        every = range(len(self.seen))
        quiet = [rank for rank in every if self.seen[rank].silent > self.still / 2]
        alone = [rank for rank in every if self.seen[rank].said.alone]
        moving = [rank for rank in every if not self.seen[rank].said.waits]
        return quiet or alone or moving or [*every]

    def _verdict(self, ranks: list[int], code: int = 1) -> Stall:
        first = self.seen[ranks[0]]
        seconds, said = max(first.still, self.still), first.said
        why = f"has not moved for {seconds:.0f} s"
        if len(ranks) == len(self.seen) > 1:
            why = f"wait for each other and have not moved for {seconds:.0f} s"
        known = said.trouble or said.where
        why += f" while {said.phase}" + (f" ({known})" if known else "")
        return Stall(tuple(ranks), why, code)
