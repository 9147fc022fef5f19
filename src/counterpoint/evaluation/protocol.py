"""The paper's protocol: embed once with the encoder frozen, choose on validation, score once."""

import functools
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from counterpoint.data import Source, Splits
from counterpoint.evaluation.finetune import FineTuned, finetune
from counterpoint.evaluation.knn import knn_probe
from counterpoint.evaluation.labels import refuse_one_class, refuse_unlabelled, say_unknown_classes
from counterpoint.evaluation.linear import linear
from counterpoint.evaluation.loading import own_samples
from counterpoint.evaluation.mlp import mlp
from counterpoint.evaluation.probe import Fitted, Labelled, fitted_on
from counterpoint.evaluation.representation import Embedded, Representation
from counterpoint.evaluation.result import ProbeResult, Result, scored
from counterpoint.evaluation.robustness import robustness
from counterpoint.evaluation.shares import refuse_no_share, share_of_labels
from counterpoint.spelling import did_you_mean

FROZEN: dict[str, Callable[..., Fitted]] = {"knn": knn_probe, "linear": linear, "mlp": mlp}
PROBES = (*FROZEN, "finetune")
"""The names of all probes; all but the last leave the encoder as it is."""
SEEDED = {"mlp", "finetune"}
"""Probes that another seed trains otherwise; the others have one answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """What choices are made on, as vectors computed once.

    >>> one = Embedded(torch.zeros(4, 8), torch.arange(4))
    >>> Embeddings(train=one, validation=one).train.vectors.shape
    torch.Size([4, 8])
    """

    train: Embedded
    validation: Embedded


@dataclass(frozen=True, slots=True, eq=False)
class _Trained:
    """One probe, trained once for each seed, before the test split is touched."""

    name: str
    fraction: float
    seeds: tuple[int, ...]
    probes: tuple[Fitted | FineTuned, ...]
    seconds: float


def embed(
    representation: Representation, splits: Splits, *, workers: int | None = None
) -> Embeddings:
    """Embed every image that choices are made on and that can be read.

    >>> from counterpoint import simclr_small
    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.randint(256, (60, 3, 16, 16), dtype=torch.uint8)
    >>> splits = as_splits(as_source(images, labels=torch.arange(60) % 2))
    >>> model = simclr_small().build(image=(3, 16, 16))
    >>> embed(Representation(model), splits, workers=0).train.vectors.shape
    torch.Size([48, 256])
    """
    in_turn = (splits.train, splits.validation)
    return Embeddings(*(representation.readable(source, workers=workers) for source in in_turn))


def evaluate(
    representation: Representation,
    splits: Splits,
    *,
    probes: Sequence[str] = ("knn", "linear", "mlp"),
    fractions: Sequence[float] = (1.0,),
    seeds: int = 1,
    seed: int = 0,
    embeddings: Embeddings | None = None,
    robust: int = 0,
    workers: int | None = None,
) -> Result:
    """Measure a representation: train the probes, choose on validation, read the test once.

    `fractions` are shares of the training labels; `seeds` repeats what has chance in it;
    `robust` test images are also classified under every corruption and shift. Everything runs
    where the encoder is; `workers` read files. What cannot be read is left out, and counted.

    >>> from counterpoint import simclr_small
    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.randint(256, (60, 3, 16, 16), dtype=torch.uint8)
    >>> splits = as_splits(as_source(images, labels=torch.arange(60) % 2))
    >>> model = simclr_small().build(image=(3, 16, 16))
    >>> found = evaluate(Representation(model), splits, probes=("knn",), workers=0)
    >>> found.probes[0].name, found.width
    ('knn', 256)
    """
    splits, started = splits.for_probes(), time.monotonic()
    refuse_impossible(splits, probes, fractions, robust=robust)
    vectors = embeddings or embed(representation, splits, workers=workers)
    known = _labelled(vectors.train, splits.train)
    held = _labelled(vectors.validation, splits.validation)
    refuse_one_class(known[1])
    trained = [
        _train(name, fraction, range(seed, seed + seeds), representation, splits, known, held)
        for fraction in fractions
        for name in probes
    ]
    test = representation.readable(splits.test, workers=workers)  # read from here on, once
    asked = _labelled(test, splits.test)
    say_unknown_classes(known[1], asked[1])
    return Result(
        probes=tuple(_score(t, asked, splits.test) for t in trained),
        width=known[0].shape[1],
        map=representation.map,
        classes=splits.train.classes,
        robustness=_robustness(trained, representation, splits, known, robust),
        seed=seed,
        left_out={
            "train": len(splits.train) - len(known[1]),
            "validation": len(splits.validation) - len(held[1]),
            "test": len(splits.test) - len(asked[1]),
        },
        seconds=time.monotonic() - started,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def refuse_impossible(
    splits: Splits, probes: Sequence[str], fractions: Sequence[float] = (1.0,), *, robust: int = 0
) -> None:
    """Refuse what an evaluation cannot end with, before hours are spent on the rest of it.

    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.randint(256, (60, 3, 16, 16), dtype=torch.uint8)
    >>> splits = as_splits(as_source(images, labels=torch.arange(60) % 2))
    >>> refuse_impossible(splits, ["lineer"])
    Traceback (most recent call last):
        ...
    ValueError: evaluation: no probe 'lineer'; there are knn, linear, mlp, finetune; ...
    """
    if unknown := set(probes) - set(PROBES):
        near = did_you_mean(min(unknown), PROBES)
        words = f"evaluation: no probe {min(unknown)!r}; there are {', '.join(PROBES)}; {near}"
        raise ValueError(words.rstrip("; "))
    for fraction in fractions:
        refuse_no_share(fraction)
    refuse_unlabelled(splits)
    if robust and not set(probes) & set(FROZEN):
        raise ValueError("robustness: needs one of knn, linear and mlp among the probes")
    if "finetune" in probes:
        for source in (splits.train, splits.validation, splits.test):
            _images(source)
    if robust:
        _images(splits.test)


def _train(
    name: str,
    fraction: float,
    seeds: Sequence[int],
    representation: Representation,
    splits: Splits,
    known: Labelled,
    held: Labelled,
) -> _Trained:
    """Train one probe on a share of the labels, for every seed that makes a difference."""
    started = time.monotonic()
    used = tuple(seeds) if name in SEEDED or fraction < 1 else (seeds[0],)
    fitted: list[Fitted | FineTuned] = []
    for seed in used:
        chosen = share_of_labels(known[1], fraction, seed=seed)
        if name == "finetune":
            some = _images(splits.train).subset("labelled", chosen)
            held_images = _images(splits.validation)
            width = known[0].shape[1]
            fitted.append(finetune(representation, some, held_images, width=width, seed=seed))
        else:
            some_known = (known[0][chosen], known[1][chosen])
            fit = functools.partial(FROZEN[name], seed=seed)
            fitted.append(fitted_on(representation.device, fit, some_known, held))
    return _Trained(name, fraction, used, tuple(fitted), time.monotonic() - started)


def _score(trained: _Trained, test: Labelled, source: Source) -> ProbeResult:
    """Predict the test split by every seed's probe."""
    found = [
        probe.predict(test[0]) if isinstance(probe, Fitted) else probe.predict(_images(source))
        for probe in trained.probes
    ]
    return scored(
        trained.name,
        trained.fraction,
        trained.seeds,
        trained.probes[0].settings,
        [probe.validation for probe in trained.probes],
        found,
        test[1],
        trained.seconds,
    )


def _robustness(
    trained: Sequence[_Trained],
    representation: Representation,
    splits: Splits,
    known: Labelled,
    images: int,
) -> dict[str, object] | None:
    """Classify worse and worse test images by the frozen probe that validation likes best."""
    if images == 0:
        return None
    frozen = [(t.name, p) for t in trained for p in t.probes if isinstance(p, Fitted)]
    name, best = max(frozen, key=lambda pair: pair[1].validation)
    some = _images(splits.test)
    spread = torch.arange(min(images, len(some))) * len(some) // min(images, len(some))
    some = some.subset("robustness", spread)  # files may be in the order of their classes
    found = robustness(
        representation, known, some, classify=lambda asked: best.predict(asked).argmax(dim=1)
    )
    return {"probe": name, "images": len(some), **found.to_dict()}


def _labelled(found: Embedded, source: Source) -> Labelled:
    """Return the vectors of a source with their labels."""
    return found.vectors, source.labels_of(found.index)


def _images(source: Source) -> Source:
    """Return the images of a source that have one shape and show themselves."""
    if source.one_shape is None or source.decodes:
        raise ValueError(
            f"evaluation: got {source!r} for fine-tuning or robustness, "
            "needs images of one size in memory"
        )
    return source.subset("readable", own_samples(source)) if source.bad else source
