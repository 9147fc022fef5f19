"""Weighted k nearest neighbours, in memory that does not grow with the queries."""

from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.probe import Fitted, Labelled, Vectors

NEIGHBOURS = (20, 200)
"""Tried on validation: Caron et al. 2021 report 10 to 200, Wu et al. 2018 use 200."""


def knn_probe(train: Labelled, validation: Labelled, *, seed: int = 0) -> Fitted:  # noqa: ARG001
    """Choose the number of neighbours on validation; there is nothing else to train."""

    def votes(k: int) -> Callable[[Vectors], Tensor]:
        return lambda vectors: knn_votes(train[0], train[1], vectors, k=k)

    tried = [Fitted(votes(k), 0.0, {"k": k}) for k in NEIGHBOURS]
    reached = [fitted.accuracy(validation) for fitted in tried]
    best = max(range(len(tried)), key=lambda place: reached[place])
    return replace(tried[best], validation=reached[best])


def knn(
    bank: Float[Tensor, "known feature"],
    labels: Int64[Tensor, " known"],
    queries: Float[Tensor, "query feature"],
    *,
    k: int = 200,
    tau: float = 0.1,
    chunk: int = 1000,
) -> Int64[Tensor, " query"]:
    r"""Predict the class with the most weight among the k nearest, weight $e^{\cos / \tau}$.

    k and tau as in Wu et al. 2018 (tau 0.07 there) and the usual CIFAR-10 protocol (0.1).

    >>> bank = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> knn(bank, torch.tensor([3, 5]), torch.tensor([[0.1, 2.0]]), k=1)
    tensor([5])
    """
    return knn_votes(bank, labels, queries, k=k, tau=tau, chunk=chunk).argmax(dim=1)


def knn_votes(
    bank: Float[Tensor, "known feature"],
    labels: Int64[Tensor, " known"],
    queries: Float[Tensor, "query feature"],
    *,
    k: int = 200,
    tau: float = 0.1,
    chunk: int = 1000,
) -> Float[Tensor, "query class"]:
    """Return the share of the weight that each class has among the k nearest."""
    known, classes = F.normalize(bank, dim=1), int(labels.max()) + 1
    shares = []
    for part in F.normalize(queries, dim=1).split(chunk):
        near = (part @ known.T).topk(min(k, len(known)), dim=1)
        votes = part.new_zeros(len(part), classes)
        votes.scatter_add_(1, labels[near.indices], torch.exp((near.values - 1) / tau))
        shares.append(votes / votes.sum(dim=1, keepdim=True))
    return torch.cat(shares)
