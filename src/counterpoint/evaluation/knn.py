"""Weighted k nearest neighbours, in memory that does not grow with the queries."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor


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
    known, classes = F.normalize(bank, dim=1), int(labels.max()) + 1
    predicted = []
    for part in F.normalize(queries, dim=1).split(chunk):
        near = (part @ known.T).topk(min(k, len(known)), dim=1)
        votes = part.new_zeros(len(part), classes)
        votes.scatter_add_(1, labels[near.indices], torch.exp((near.values - 1) / tau))
        predicted.append(votes.argmax(dim=1))
    return torch.cat(predicted)
