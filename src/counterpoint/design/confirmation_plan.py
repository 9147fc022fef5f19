"""confirmation.json: what a confirmation compares, decided once before test images are read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from counterpoint.design.candidate import Candidate
from counterpoint.design.confirmation import Contender, contenders
from counterpoint.whole_file import write_whole

PLAN_FILE = "confirmation.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationPlan:
    """The contenders, seeds and images of a confirmation.

    A search that is continued ranks its candidates anew, and other seeds would choose other rivals.
    If they were chosen again, one table would mix methods and budgets.
    """

    counts: tuple[int, int, int]
    """What was asked for: --top, --seeds and --shipped."""
    tuned: bool = False
    """Whether shipped methods with a learning rate that was chosen are among the contenders."""
    random: str | None
    """Fingerprint of the best of a random search, if one was given."""
    heat_seed: int
    """Of the trials that chose the rivals."""
    seeds: tuple[int, ...]
    images: int
    """Of a trial at equal images."""
    contenders: tuple[Contender, ...]

    def with_random(self, best: Candidate, seed: int) -> "ConfirmationPlan":
        """Return the plan with the best of a random search, which comes after the choice.

        It is another rival for everything that was found: it adds comparisons to correct for, and
        changes none. It read no test image either. It comes once and is never exchanged.
        """
        if seed in self.seeds:
            raise ValueError(
                f"design: the random search has the seed {seed}, which is one of the confirmation; "
                f"search at random with a seed that is not among {list(self.seeds)}"
            )
        before = {one.candidate.fingerprint for one in self.contenders}
        more = [one for one in contenders([], [], best) if one.candidate.fingerprint not in before]
        return replace(self, random=best.fingerprint, contenders=(*self.contenders, *more))

    def with_tuned(self, rivals: Sequence[Candidate]) -> "ConfirmationPlan":
        """Return the plan with shipped methods whose rate was chosen; no rival is taken away."""
        before = {one.candidate.fingerprint for one in self.contenders}
        more = [one for one in contenders([], rivals) if one.candidate.fingerprint not in before]
        return replace(self, tuned=True, contenders=(*self.contenders, *more))

    def refuse_other(
        self, out: Path, counts: tuple[int, int, int], random: Candidate | None
    ) -> None:
        """Refuse a request that is not the one that was decided; --random need not be repeated."""
        names = ("--top", "--seeds", "--shipped", "--random")
        kept = (*self.counts, self.random)
        given = (*counts, self.random if random is None else random.fingerprint)
        for name, before, now in zip(names, kept, given, strict=True):
            if before != now:
                raise ValueError(
                    f"design: {out / PLAN_FILE} was made with {name} {before}, and this is {now}; "
                    "test images are read for one plan: give the same options as the first time"
                )

    def to_json(self) -> str:
        listed = [
            {"name": one.name, "role": one.role, "fingerprint": one.candidate.fingerprint}
            | {"candidate": json.loads(one.candidate.to_json())}
            for one in self.contenders
        ]
        record = {
            "counts": self.counts,
            "tuned": self.tuned,
            "random": self.random,
            "heat_seed": self.heat_seed,
            "seeds": self.seeds,
            "images": self.images,
            "contenders": listed,
        }
        return json.dumps(record, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "ConfirmationPlan":
        record = json.loads(text)
        top, seeds, shipped = record["counts"]
        return cls(
            counts=(top, seeds, shipped),
            tuned=record.get("tuned", False),  # the first plans knew no other
            random=record["random"],
            heat_seed=record["heat_seed"],
            seeds=tuple(record["seeds"]),
            images=record["images"],
            contenders=tuple(
                Contender(
                    name=one["name"],
                    role=one["role"],
                    candidate=Candidate.from_json(json.dumps(one["candidate"])),
                )
                for one in record["contenders"]
            ),
        )


def read_plan(out: Path) -> ConfirmationPlan | None:
    """Read what was decided; None where nothing was."""
    file = out / PLAN_FILE
    return ConfirmationPlan.from_json(file.read_text()) if file.exists() else None


def write_plan(out: Path, plan: ConfirmationPlan) -> None:
    """Write what was decided, whole or not at all."""
    write_whole(out / PLAN_FILE, plan.to_json())
