"""How much of a probe's accuracy is left when the images are worse than those it was trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.data import Source
from counterpoint.data.source import all_labels, read_images
from counterpoint.evaluation.knn import knn
from counterpoint.evaluation.probe import Labelled
from counterpoint.evaluation.representation import Representation
from counterpoint.evaluation.robustness.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from counterpoint.evaluation.robustness.severity import Bytes
from counterpoint.evaluation.robustness.shifts import SHIFTS, Shift, shifted
from counterpoint.framework import Draw
from counterpoint.progress import tracked

Classify = Callable[[Float[Tensor, "sample feature"]], Int64[Tensor, " sample"]]
"""A trained probe: vectors in, classes out."""

Change = Callable[[Bytes, Draw], Bytes]
CLEAN = "clean"
BATCH = 500  # images held at a time; our choice, that of `Representation`


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """Accuracies as shares of the images, clean and changed.

    >>> found = Robustness(
    ...     clean=0.9, corruptions={"fog": (0.8, 0.6)}, shifts={}, severities=(1, 5)
    ... )
    >>> round(found.mean, 3), round(found.relative, 3)
    (0.7, 0.2)
    """

    clean: float
    corruptions: dict[str, tuple[float, ...]]
    """One figure for each severity."""
    shifts: dict[str, float]
    severities: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean over corruptions of the mean over severities."""
        figures = [sum(some) / len(some) for some in self.corruptions.values()]
        return sum(figures) / len(figures)

    @property
    def relative(self) -> float:
        """The mean error under corruption less the clean error.

        What Hendrycks and Dietterich 2019, section 4, call relative corruption error, before they
        divide it by AlexNet's on ImageNet-C, which means nothing for other data.
        """
        return self.clean - self.mean

    def to_dict(self) -> dict[str, object]:
        return {
            "clean": self.clean,
            "corruptions": {name: list(some) for name, some in self.corruptions.items()},
            "shifts": self.shifts,
            "severities": list(self.severities),
            "mean": self.mean,
            "relative": self.relative,
        }


def robustness(
    representation: Representation,
    train: Labelled,
    source: Source,
    *,
    classify: Classify | None = None,
    corruptions: Sequence[str] = tuple(CORRUPTIONS),
    severities: Sequence[int] = SEVERITIES,
    shifts: Sequence[str] = tuple(SHIFTS),
    seed: int = 0,
    batch: int = BATCH,
) -> Robustness:
    """Score a probe on clean, corrupted and shifted images; no more than one batch is held.

    `train` is the bank of neighbours where no `classify` is given.

    >>> from counterpoint import simclr_small
    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.randint(256, (60, 3, 16, 16), dtype=torch.uint8)
    >>> splits = as_splits(as_source(images, labels=torch.arange(60) % 2))
    >>> model = simclr_small().build(image=(3, 16, 16))
    >>> represent = Representation(model)
    >>> known = represent(splits.train.images), splits.train.labels
    >>> found = robustness(
    ...     represent, known, splits.test, corruptions=("fog",), severities=(1,), shifts=()
    ... )
    >>> len(found.corruptions["fog"])
    1
    """
    labels = _labels(source)
    classify = classify or partial(knn, *train)
    changes = _changes(corruptions, severities, shifts)
    right = dict.fromkeys(changes, 0)
    parts = torch.arange(len(source)).split(batch)
    for name, part in tracked(list(product(changes, parts)), "robustness"):
        images = changes[name](read_images(source, part), Draw(seed, 0, part))
        found = classify(representation(images, batch=batch))
        right[name] += int((found == labels[part]).sum())
    share = {name: count / len(source) for name, count in right.items()}
    return Robustness(
        clean=share[CLEAN],
        corruptions={n: tuple(share[f"{n} {s}"] for s in severities) for n in corruptions},
        shifts={name: share[name] for name in shifts},
        severities=tuple(severities),
    )


def _changes(
    corruptions: Sequence[str], severities: Sequence[int], shifts: Sequence[str]
) -> dict[str, Change]:
    """Name everything that is done to the images, the clean ones first."""
    _known("corruptions", corruptions, tuple(CORRUPTIONS))
    _known("severities", severities, SEVERITIES)
    _known("shifts", shifts, tuple(SHIFTS), some=False)
    changes: dict[str, Change] = {CLEAN: lambda images, _: images}
    for name, severity in product(corruptions, severities):
        changes[f"{name} {severity}"] = partial(_corrupted, name, severity)
    for name in shifts:
        changes[name] = partial(_shifted, SHIFTS[name])
    return changes


def _corrupted(name: str, severity: int, images: Bytes, draw: Draw) -> Bytes:
    return corrupt(name, images, severity, draw)


def _shifted(shift: Shift, images: Bytes, _draw: Draw) -> Bytes:
    return shifted(images, shift)


def _known(
    what: str, given: Sequence[object], table: Sequence[object], *, some: bool = True
) -> None:
    """Refuse names that are not in the table, names given twice and, if need be, none at all."""
    strange = [name for name in given if name not in table]
    if strange or len(set(given)) < len(given) or (some and not given):
        listed = ", ".join(str(name) for name in table)
        raise ValueError(f"robustness: got {what} {list(given)}, needs some of {listed}, each once")


def _labels(source: Source) -> Int64[Tensor, " sample"]:
    """Return the classes of the images; the probe is wrong about those that it has not learned."""
    if not source.has_labels or len(source) == 0:
        raise ValueError(f"robustness: got {source.name} without labelled images, needs some")
    return all_labels(source)
