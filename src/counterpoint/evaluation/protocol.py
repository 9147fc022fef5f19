"""The paper's protocol: embed once with the encoder frozen, choose on validation, score once."""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.data import Files, Source, Splits
from counterpoint.evaluation.finetune import FineTuned, finetune
from counterpoint.evaluation.knn import neighbours
from counterpoint.evaluation.linear import linear
from counterpoint.evaluation.mlp import mlp
from counterpoint.evaluation.probe import Fitted, Labelled
from counterpoint.evaluation.representation import Representation, pixels
from counterpoint.evaluation.result import ProbeResult, Result, scored
from counterpoint.evaluation.robustness import robustness
from counterpoint.evaluation.shares import share_of_labels

FROZEN: dict[str, Callable[..., Fitted]] = {"knn": neighbours, "linear": linear, "mlp": mlp}
PROBES = (*FROZEN, "finetune")
CHANCY = {"mlp", "finetune"}
"""Probes that another seed trains otherwise; the others have one answer."""


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """What choices are made on, as vectors computed once."""

    train: Float[Tensor, "train feature"]
    validation: Float[Tensor, "validation feature"]


@dataclass(frozen=True, slots=True, eq=False)
class _Trained:
    """One probe, trained once for each seed, before the test split is touched."""

    name: str
    fraction: float
    seeds: tuple[int, ...]
    probes: tuple[Fitted | FineTuned, ...]
    seconds: float


def embed(representation: Representation, splits: Splits) -> Embeddings:
    """Embed every image that choices are made on."""
    in_turn = (splits.train, splits.validation)
    return Embeddings(*(representation(pixels(source)) for source in in_turn))


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
) -> Result:
    """Measure a representation: train the probes, choose on validation, read the test once.

    `fractions` are shares of the training labels; `seeds` repeats what has chance in it;
    `robust` test images are also classified under every corruption and shift.
    """
    splits, started = splits.for_probes(), time.monotonic()
    if unknown := set(probes) - set(PROBES):
        raise ValueError(f"evaluation: no probe {min(unknown)}; there are {', '.join(PROBES)}")
    vectors = embeddings or embed(representation, splits)
    trained = [
        _train(name, fraction, range(seed, seed + seeds), representation, splits, vectors)
        for fraction in fractions
        for name in probes
    ]
    test = representation(pixels(splits.test))  # read from here on, once
    truth = _labels(splits.test)
    return Result(
        probes=tuple(_score(t, test, splits.test, truth) for t in trained),
        width=vectors.train.shape[1],
        map=representation.map,
        classes=splits.train.classes,
        robustness=_robustness(trained, representation, splits, vectors, robust),
        seed=seed,
        seconds=time.monotonic() - started,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _train(
    name: str,
    fraction: float,
    seeds: Sequence[int],
    representation: Representation,
    splits: Splits,
    vectors: Embeddings,
) -> _Trained:
    """Train one probe on a share of the labels, for every seed that makes a difference."""
    started = time.monotonic()
    used = tuple(seeds) if name in CHANCY or fraction < 1 else (seeds[0],)
    labels, held = _labels(splits.train), (vectors.validation, _labels(splits.validation))
    fitted: list[Fitted | FineTuned] = []
    for seed in used:
        chosen = share_of_labels(labels, fraction, seed=seed)
        if name == "finetune":
            some = _images(splits.train).subset("labelled", chosen)
            held_images = _images(splits.validation)
            width = vectors.train.shape[1]
            fitted.append(finetune(representation, some, held_images, width=width, seed=seed))
        else:
            known: Labelled = (vectors.train[chosen], labels[chosen])
            fitted.append(FROZEN[name](known, held, seed=seed))
    return _Trained(name, fraction, used, tuple(fitted), time.monotonic() - started)


def _score(trained: _Trained, test: Tensor, source: Source | Files, truth: Tensor) -> ProbeResult:
    """Predict the test split by every seed's probe."""
    found = [
        probe.predict(test) if isinstance(probe, Fitted) else probe.predict(_images(source).images)
        for probe in trained.probes
    ]
    return scored(
        trained.name,
        trained.fraction,
        trained.seeds,
        trained.probes[0].settings,
        [probe.validation for probe in trained.probes],
        found,
        truth,
        trained.seconds,
    )


def _robustness(
    trained: Sequence[_Trained],
    representation: Representation,
    splits: Splits,
    vectors: Embeddings,
    images: int,
) -> dict[str, object] | None:
    """Classify worse and worse test images by the frozen probe that validation likes best."""
    if images == 0:
        return None
    frozen = [(t.name, p) for t in trained for p in t.probes if isinstance(p, Fitted)]
    if not frozen:
        raise ValueError("robustness: needs one of knn, linear and mlp among the probes")
    name, best = max(frozen, key=lambda pair: pair[1].validation)
    some = _images(splits.test)
    some = some.subset("robustness", torch.arange(min(images, len(some))))
    known = (vectors.train, _labels(splits.train))
    found = robustness(
        representation, known, some, classify=lambda asked: best.predict(asked).argmax(dim=1)
    )
    return {"probe": name, "images": len(some), **found.to_dict()}


def _labels(source: Source | Files) -> Tensor:
    if source.labels is None:
        raise ValueError(f"evaluation: {source.name} has no labels; probes need them")
    return source.labels.to(torch.int64)


def _images(source: Source | Files) -> Source:
    if isinstance(source, Files):
        raise ValueError(
            f"evaluation: got {source!r} for fine-tuning or robustness, "
            "needs images of one size in memory"
        )
    return source
