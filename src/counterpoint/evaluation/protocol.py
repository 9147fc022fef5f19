"""The paper's protocol: embed once with the encoder frozen, choose on validation, score once."""

import time
from dataclasses import asdict, dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.data import Files, Source, Splits
from counterpoint.evaluation.knn import knn
from counterpoint.evaluation.mlp import Labelled, mlp
from counterpoint.evaluation.representation import Representation, pixels

NEIGHBOURS = (20, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one evaluation found; accuracies are shares of the test images."""

    knn: float
    knn_validation: float
    k: int
    """The number of neighbours chosen on validation."""
    mlp: float
    mlp_validation: float
    width: int
    seconds: float
    seed: int

    def to_dict(self) -> dict[str, float | int]:
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The three splits as vectors, computed once."""

    train: Float[Tensor, "train feature"]
    validation: Float[Tensor, "validation feature"]
    test: Float[Tensor, "test feature"]


def embed(representation: Representation, splits: Splits) -> Embeddings:
    """Embed every image of the three splits."""
    splits_in_turn = (splits.train, splits.validation, splits.test)
    return Embeddings(*(representation(pixels(source)) for source in splits_in_turn))


def evaluate(representation: Representation, splits: Splits, *, seed: int = 0) -> Result:
    """Measure a frozen representation by weighted kNN and by the paper's MLP."""
    started = time.monotonic()
    vectors = embed(representation, splits)
    train = (vectors.train, _labels(splits.train))
    validation = (vectors.validation, _labels(splits.validation))
    reached = {k: _knn_accuracy(train, validation, k) for k in NEIGHBOURS}
    k = max(reached, key=lambda k: reached[k])
    probe = mlp(train, validation, seed=seed)
    test = (vectors.test, _labels(splits.test))  # read from here on, once
    return Result(
        knn=_knn_accuracy(train, test, k),
        knn_validation=reached[k],
        k=k,
        mlp=probe.accuracy(test),
        mlp_validation=probe.validation,
        width=vectors.train.shape[1],
        seconds=time.monotonic() - started,
        seed=seed,
    )


def _knn_accuracy(bank: Labelled, queries: Labelled, k: int) -> float:
    predicted = knn(bank[0], bank[1], queries[0], k=k)
    return float((predicted == queries[1]).double().mean())


def _labels(source: Source | Files) -> Tensor:
    if source.labels is None:
        raise ValueError(f"evaluation: {source.name} has no labels; kNN and MLP need them")
    return source.labels.to(torch.int64)
