"""From a trial to its job."""

import os
from dataclasses import replace
from functools import lru_cache

import torch

from counterpoint.data import ArraySource, Splits, open_data
from counterpoint.data.source import Source, all_labels
from counterpoint.evaluation.labels import refuse_unlabelled
from counterpoint.framework import codec
from counterpoint.job import Job
from counterpoint.parts import PARTS
from counterpoint.parts.extraction import Compare
from counterpoint.parts.own import own_parts
from counterpoint.resolve import resolve
from counterpoint.study.supervised import supervised
from counterpoint.study.trial import Trial

SIDE, COUNT = 32, 45_000  # of images that are not here: CIFAR-10's
SCORED = 16  # images that stand for the test images where those stay unread: one may be broken


def opened(trial: Trial) -> Splits:
    """Open the images of a trial; those of the last one are still open."""
    place = os.path.expandvars(trial.data)
    if "$" in place:
        raise ValueError(
            f"study: got the data {trial.data}, but that variable is not set; set it to a folder"
        )
    return _open(place, trial.limit)


@lru_cache(maxsize=1)
def _open(place: str, limit: int | None) -> Splits:
    return open_data(place, limit=limit)


def absent(trial: Trial) -> Splits:
    """Return images without content, for a plan where those of the trial are not here."""
    side = trial.size or SIDE
    blank = torch.zeros(1, 3, side, side, dtype=torch.uint8).expand(COUNT, -1, -1, -1)
    source = ArraySource("absent", blank)
    return Splits(source, source, source)


def labelled_splits(trial: Trial, splits: Splits) -> Splits:
    """Return the images that a trial's probes read; images without labels are refused."""
    known = splits.for_probes()
    if trial.untested:  # something is scored in any case: images that choices were made on
        known = replace(known, test=known.validation.first(SCORED))
    refuse_unlabelled(known)
    if trial.labelled is None:
        return known
    parts = (known.train, known.validation, known.test)
    return Splits(*(_some(part, trial.labelled) for part in parts))


def _some(source: Source, count: int) -> Source:
    """Take the first images; where files are in the order of their classes, some of all of them.

    >>> labels = torch.arange(6) // 2
    >>> source = ArraySource("sorted", torch.zeros(6, 3, 8, 8, dtype=torch.uint8), labels)
    >>> _some(source, 3).labels.tolist()
    [0, 1, 2]
    """
    if count >= len(source):
        return source
    spread = torch.arange(count) * len(source) // count
    first, evenly = (len(source.labels_of(n).unique()) for n in (torch.arange(count), spread))
    return source.subset("spread", spread) if evenly > first else source.first(count)


def job_of(trial: Trial, splits: Splits, *, workers: int | None = None) -> Job:
    """Resolve a trial on its images.

    A trial of labels has the views, the encoder and the training settings of its method.

    >>> from counterpoint.study.budget import Images
    >>> asked = Trial(method="amdim-small", data="", budget=Images(1), seed=3,
    ...     training=(("batch", 32),), swaps=(("extraction", "(-1:-1)"),))
    >>> job = job_of(asked, absent(asked))
    >>> print(job.method.extraction, job.training.batch, job.training.seed)
    (-1:-1), one place 32 3
    """
    names = {**PARTS, **own_parts(trial.parts_file)}
    if trial.kind == "supervised":
        splits = splits.for_probes()
    job = resolve(
        trial.method,
        splits,
        encoder=trial.encoder,
        swaps={part: _part(part, text, names) for part, text in trial.swaps},
        size=trial.size,
        changes={"seed": trial.seed, **dict(trial.training)},
        parts=names,
        workers=workers,
    )
    if trial.kind != "supervised":
        return job
    if not job.source.has_labels:
        raise ValueError(f"study: {job.source!r}; a supervised trial needs labels")
    classes = 1 + int(all_labels(job.source).max())
    return replace(job, method=supervised(job.method, classes), name=None)


def _part(part: str, text: str, names: dict[str, type]) -> object:
    if text.startswith("{"):
        return codec.decode(codec.from_text(text), names)
    if part == "extraction":
        return Compare.parse(text)
    raise ValueError(f"study: got {text!r} for the part {part}, needs its JSON")
