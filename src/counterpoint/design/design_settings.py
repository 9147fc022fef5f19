"""What a search is: everything that decides which candidates it proposes and what they find."""

import os
from dataclasses import dataclass, fields
from typing import Literal

from counterpoint.data import Source, image_shape, open_data, view_side
from counterpoint.design.candidate import Candidate
from counterpoint.design.evolution import Round, Strategy
from counterpoint.design.halving import Rung, round_cost, rungs
from counterpoint.evaluation.criteria import CRITERIA
from counterpoint.framework import codec
from counterpoint.framework.records import Shape
from counterpoint.methods import method_named, training_of
from counterpoint.study.trial import Trial
from counterpoint.training.cost import step_flops

Probe = Literal["knn", "linear"]

SIZE = 27  # candidates of a round: our choice, three times three times three
ROUNDS = 10  # that the hours hold at least: our choice
SPEED = 20e9
"""Operations a second that a core is taken to do, the criteria included: half of the 40 x 10^9 that
a 2.5 GHz core trains with. It is a constant, so that a search on another machine, or in a busy
hour, proposes the same candidates."""
CHOSEN = ("rotation-folds",)
"""The one whose order of candidates is nearest to that of labels:
docs/decisions/0054-the-rotation-probe-in-folds.md."""
RECORDED = ("rankme", "lidar", "alpha", "rotation", "learnability")
"""What every trial measures. A search that chooses by something else measures that as well: with
another list the trials of earlier searches would be new ones."""
LABELLED = 5000  # images of each split that probes read: our choice, as in the small studies
LEAST_STEPS = 10  # steps of the first rung below which a candidate is refused: our choice
ENCODER = '{"blocks":[1,1,1],"part":"NarrowResNet","stride":2,"widths":[32,64,128]}'
"""The one encoder of the small studies: half as wide as `small`."""
REFERENCE = "simclr-small"
"""The method whose epochs the budget is counted in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignSettings:
    """The settings of a search; a search resumes with the same ones only.

    Hours are not among them: they decide how many rounds there are, never what is in them.

    >>> some = DesignSettings(data="photos", full=9e12)
    >>> DesignSettings.from_json(some.to_json()) == some
    True
    """

    data: str
    full: float
    """Operations of a trial on the last rung."""
    seed: int = 0
    candidates: int = SIZE
    """Of a round."""
    strategy: Strategy = "evolution"
    criteria: tuple[str, ...] = CHOSEN
    """By which candidates are chosen; the others are recorded."""
    labels: Probe | None = None
    """A probe whose validation figure chooses instead of the criteria."""
    watch: tuple[Probe, ...] = ()
    """Probes whose validation figures are recorded and choose nothing."""
    labelled: int = LABELLED
    """Images of each split that probes read."""
    encoder: str = ENCODER
    """A name, or an encoder's JSON."""
    size: int | None = None
    """Side that images of varying size are cut to."""
    limit: int | None = None
    """Use only the first N images of each split."""
    batch: int | None = None
    """In the place of the batch of every known method."""
    least_steps: int = LEAST_STEPS
    earlier: str | None = None
    """Folder of an earlier search, whose best candidates are the first round."""
    without: tuple[str, ...] = ()
    """Shipped methods that the search does not know, such as one that it found itself."""
    cpus: int = 1
    """Threads of a trial: sums are added in another order by more of them."""

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """All lengths of training that a search may have, the shortest first."""
        return rungs(self.candidates, self.full)

    def rungs_of(self, made: Round) -> tuple[Rung, ...]:
        """Return the lengths that a round has."""
        return rungs(self.candidates, self.full, halved=made.halved)

    @property
    def probes(self) -> tuple[str, ...]:
        """The probes that each trial trains, none if it needs no labels."""
        return tuple(dict.fromkeys((*([self.labels] if self.labels else []), *self.watch)))

    def to_json(self) -> str:
        return codec.to_text(codec.encode(self))

    @classmethod
    def from_json(cls, text: str) -> "DesignSettings":
        found = codec.decode(codec.from_text(text), {cls.__name__: cls})
        assert isinstance(found, cls)
        return found


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What a search has to know of its images."""

    image: Shape
    side: int
    count: int

    @classmethod
    def of(cls, source: Source, size: int | None) -> "ImageFacts":
        return cls(image_shape(source, size=size), view_side(source, size=size), len(source))


def image_facts(data: str, *, size: int | None = None, limit: int | None = None) -> ImageFacts:
    """Open the images that a search trains on, and say what matters of them."""
    return ImageFacts.of(open_data(os.path.expandvars(data), limit=limit).train, size)


def epoch_flops(ground: ImageFacts, encoder: str, batch: int | None = None) -> float:
    """Count the operations of one epoch of `simclr-small` with an encoder."""
    method = method_named(REFERENCE, size=ground.side, encoder=encoder)
    many = batch or training_of(REFERENCE).batch
    return step_flops(method, ground.image, many) * (ground.count / many)


def full_flops(epoch: float, *, hours: float, size: int = SIZE) -> float:
    """Return the budget of a full trial: one epoch, or less where the hours hold too few rounds.

    It is the smaller of `epoch` and of what lets the hours hold ten rounds, on a core that does
    20 x 10^9 operations a second; two digits of it, so that it can be read and typed.

    >>> full_flops(3.01e12, hours=16.0), full_flops(3.01e12, hours=1.0)
    (3000000000000.0, 800000000000.0)
    """
    share = hours * 3600 * SPEED / (ROUNDS * round_cost(size))
    return float(f"{min(epoch, share):.1e}")


def trial_of(candidate: Candidate, rung: Rung, settings: DesignSettings) -> Trial:
    """Return the trial of a candidate on a rung: its name is the candidate's fingerprint.

    It reads no test image, and no label unless the search was asked to.
    """
    return Trial(
        name=candidate.fingerprint,
        row=candidate.change,
        column=column(rung.number),
        method=candidate.method.to_json(),
        data=settings.data,
        budget=rung.budget,
        seed=settings.seed,
        training=candidate.training,
        size=settings.size,
        limit=settings.limit,
        criteria=tuple(one for one in CRITERIA if one in {*RECORDED, *settings.criteria}),
        probes=settings.probes,
        labelled=settings.labelled,
        untested=True,
    )


def column(rung: int) -> str:
    """Return the column of a rung's trials.

    >>> column(0)
    'rung 0'
    """
    return f"rung {rung}"


def differing(one: DesignSettings, other: DesignSettings) -> list[str]:
    """Return the names of the settings that two searches do not share.

    >>> differing(DesignSettings(data="a", full=1.0), DesignSettings(data="a", full=2.0, seed=1))
    ['full', 'seed']
    """
    names = [place.name for place in fields(one)]
    return [name for name in names if getattr(one, name) != getattr(other, name)]
