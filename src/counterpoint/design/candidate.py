"""A candidate of a search: a method, how it is trained, and what it was made from."""

import hashlib
from dataclasses import dataclass
from typing import Any

from counterpoint.framework import Method, codec
from counterpoint.framework.settings import MACHINE, Training
from counterpoint.parts import PARTS
from counterpoint.study.trial import Value, pairs

RUN = {"seed", *MACHINE}
"""Settings of a run of a candidate, not of the candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A method and its training settings; `parents` and `change` say how they came about.

    >>> from counterpoint.methods import simclr_small, training_of
    >>> one = Candidate(
    ...     method=simclr_small(), training=training_pairs(training_of("simclr-small"))
    ... )
    >>> Candidate.from_json(one.to_json()) == one
    True
    >>> one.settings.optimiser
    'adamw'
    """

    method: Method
    """Composed for the side of the images, and before `for_samples`."""
    training: tuple[tuple[str, Value], ...]
    """Every setting of `Training` but the seed, those of the machine, and those that are None."""
    parents: tuple[str, ...] = ()
    """Fingerprints: none for a known method, one for a mutation, two for a crossover."""
    change: str = ""
    """What is different from the parents, in words; of a known method its name."""

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits over method and training, whoever the parents are."""
        content = [codec.encode(self.method), codec.encode(self.training)]
        return hashlib.sha256(codec.to_text(content).encode()).hexdigest()[:16]

    @property
    def settings(self) -> Training:
        """The training settings as `Training`, with seed 0."""
        given: dict[str, Any] = dict(self.training)
        return Training(**given)

    def to_json(self) -> str:
        """Write the candidate as canonical JSON."""
        return codec.to_text(codec.encode(self))

    @classmethod
    def from_json(cls, text: str) -> "Candidate":
        """Read a candidate; its method may name parts of the closed table only."""
        names = {**PARTS, Method.__name__: Method, cls.__name__: cls}
        found = codec.decode(codec.from_text(text), names)
        if not isinstance(found, cls):
            raise ValueError(
                f"design: this is the JSON of {type(found).__name__}, not of a candidate"
            )
        return found


def training_pairs(training: Training) -> tuple[tuple[str, Value], ...]:
    """Return training settings as a candidate keeps them: sorted, floats written as floats.

    >>> dict(training_pairs(Training(warmup=0)))["warmup"]
    0.0
    """
    content = codec.encode(training)
    assert isinstance(content, dict)
    left_out = {"part", *RUN}
    return pairs(
        {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
            if name not in left_out and value is not None
        }
    )
