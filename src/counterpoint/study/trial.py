"""A trial is data: what is trained, on what, for how long, and with which seed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Literal, get_type_hints

from counterpoint.evaluation import PROBES
from counterpoint.evaluation.criteria import CRITERIA
from counterpoint.framework import codec
from counterpoint.framework.method import FIVE
from counterpoint.framework.settings import Training
from counterpoint.study.budget import Budget, Flops, Images, Seconds
from counterpoint.study.trial_fields import refuse_other_kinds, refuse_unfit_training

Value = bool | int | float | str | tuple[float, ...]
LABELS = {"name", "row", "column"}
"""Words for people: they change where a result is shown, not what it is."""
NAME_BYTES = 255  # of the name of a folder, on most disks
PACKAGE = Path(__file__).parents[1]
OWN = {"seed"}
"""Settings of training that a trial has a field for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One cell of a table, for one seed.

    >>> some = Trial(method="simclr-small", data="cifar10", budget=Images(45_000), seed=1)
    >>> Trial.from_json(some.to_json()) == some
    True
    """

    method: str
    """A name of `counterpoint methods`, or a method's JSON."""
    data: str
    """A folder or file; $NAME is replaced by the environment where the trial runs."""
    budget: Budget
    seed: int = 0
    kind: Literal["pretrain", "supervised", "random"] = "pretrain"
    """What trains the encoder: the method, labels with cross-entropy, or nothing."""
    encoder: str | None = None
    """A name, as for --encoder, or an encoder's JSON; the method's own if not given."""
    swaps: tuple[tuple[str, str], ...] = ()
    """Parts that replace the method's: part and JSON, or a text such as (-1:-2) + (-2:-2)."""
    training: tuple[tuple[str, Value], ...] = ()
    """Changes to the training settings that go with the method."""
    rates: tuple[float, ...] = ()
    """Learning rates to choose from by the loss on held-out images; none keeps the one given."""
    parts: str | None = None
    """A Python file with parts of your own, or one of ours as counterpoint/...; its content is part
    of the fingerprint."""
    size: int | None = None
    """The side that a method is composed for; that of the images if not given."""
    limit: int | None = None
    """Use only the first N images of each split."""
    probes: tuple[str, ...] = ("knn", "linear")
    """Probes with labels; with none, images without labels will do."""
    criteria: tuple[str, ...] = field(default=(), metadata=codec.LATER)
    """Measures without labels, of `evaluation.criteria.CRITERIA`, on the training images."""
    labelled: int | None = None
    """Use only the first N images of each split for the probes."""
    untested: bool = field(default=False, metadata=codec.LATER)
    """Leave the test images unread: probes have a figure for validation images only."""
    name: str = ""
    row: str = ""
    column: str = ""

    def __post_init__(self) -> None:
        refuse_other_kinds(
            {place.name: getattr(self, place.name) for place in fields(self)}, _hints()
        )
        _known("swaps", [part for part, _ in self.swaps], FIVE)
        settings = [place.name for place in fields(Training) if place.name not in OWN]
        _known("training", [key for key, _ in self.training], settings)
        refuse_unfit_training(self.training)
        _known("probes", list(self.probes), PROBES)
        _known("criteria", list(self.criteria), CRITERIA)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits over everything that changes the result.

        >>> some = Trial(method="cpc", data="x", budget=Images(10))
        >>> some.fingerprint == replace(some, row="CPC").fingerprint
        True
        >>> some.fingerprint == replace(some, seed=1).fingerprint
        False
        """
        content = codec.encode(self)
        assert isinstance(content, dict)
        kept = {key: value for key, value in content.items() if key not in LABELS}
        file = self.parts_file
        digest = None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        kept["parts"] = digest
        return hashlib.sha256(codec.to_text(kept).encode()).hexdigest()[:16]

    @property
    def parts_file(self) -> Path | None:
        """Find the file of parts: where it says, or in this package, on whatever machine."""
        if self.parts is None:
            return None
        path = Path(self.parts)
        path = path if path.is_file() else PACKAGE.parent / path
        if not path.is_file():
            raise FileNotFoundError(f"study: there is no file of parts {self.parts}")
        return path

    @property
    def key(self) -> str:
        """The name of its folder: readable, and its own."""
        words = "".join(c if c.isalnum() else "-" for c in self.name or self.kind).strip("-")
        own = f"-s{self.seed}-{self.fingerprint}"
        return words.encode()[: NAME_BYTES - len(own)].decode(errors="ignore") + own

    def to_json(self) -> str:
        return codec.to_text(codec.encode(self))

    @classmethod
    def from_json(cls, text: str) -> "Trial":
        names = {kind.__name__: kind for kind in (cls, Images, Flops, Seconds)}
        found = codec.decode(codec.from_text(text), names)
        if not isinstance(found, cls):
            raise ValueError(f"study: this is the JSON of {type(found).__name__}, not of a trial")
        return found


def pairs(changes: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """Write changes in an order of their own, so that equal trials are equal.

    >>> pairs({"lr": 1e-3, "batch": 64})
    (('batch', 64), ('lr', 0.001))
    """
    return tuple(sorted(changes.items()))


def seeds(trial: Trial, count: int) -> list[Trial]:
    """Repeat a trial with the seeds 0, 1, ...

    >>> [one.seed for one in seeds(Trial(method="cpc", data="x", budget=Images(10)), 3)]
    [0, 1, 2]
    """
    return [replace(trial, seed=seed) for seed in range(count)]


@cache
def _hints() -> dict[str, object]:
    return get_type_hints(Trial)


def _known(field: str, given: list[str], known: "list[str] | tuple[str, ...]") -> None:
    if unknown := sorted(set(given) - set(known)):
        raise ValueError(f"study: {field} has {unknown[0]!r}; needs one of {', '.join(known)}")
    if len(set(given)) < len(given):
        raise ValueError(f"study: {field} names one thing twice: {', '.join(given)}")
