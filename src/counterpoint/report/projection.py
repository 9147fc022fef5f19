"""Vectors as points on a plane: PCA, or UMAP where it is installed."""

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

NEIGHBOURS = 15  # McInnes et al. 2018, the default of their code


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Points of a plane, and in words how they came about."""

    points: Float[Tensor, "sample 2"]
    words: str


def project(vectors: Float[Tensor, "sample feature"]) -> Projection:
    """Lay vectors out on a plane: by UMAP if `umap` can be imported, by PCA if not."""
    if find_spec("umap") is None or len(vectors) <= NEIGHBOURS:
        points, held = pca(vectors)
        return Projection(points, f"PCA of unit vectors; two axes hold {held:.0%} of the variance")
    umap: Any = importlib.import_module("umap")
    # One seed and one job: the same vectors give the same picture.
    made = umap.UMAP(n_neighbors=NEIGHBOURS, metric="cosine", random_state=0, n_jobs=1)
    points = torch.as_tensor(made.fit_transform(vectors.numpy()), dtype=torch.float32)
    return Projection(points, "UMAP by cosine; distances between far groups mean little")


def pca(
    vectors: Float[Tensor, "sample feature"],
) -> tuple[Float[Tensor, "sample 2"], float]:
    r"""Project on the two directions of most variance, and give the share that they hold.

    With centred $X$ the directions are the eigenvectors of $X^\top X$ with the largest eigenvalues
    $\lambda$, the share is $(\lambda_1 + \lambda_2) / \sum_i \lambda_i$. A direction's sign is
    free: its largest entry is made positive, so that the picture is the same on every machine.

    >>> points, held = pca(torch.tensor([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> points[:, 0].tolist(), round(held, 3)
    ([-2.0, 0.0, 2.0], 1.0)
    """
    centred = (vectors - vectors.mean(dim=0)).double()
    strengths, directions = torch.linalg.eigh(centred.T @ centred)  # the largest are the last
    first = directions[:, -2:].flip(1)
    largest = first.gather(0, first.abs().argmax(dim=0, keepdim=True))
    points = torch.zeros(len(vectors), 2, dtype=torch.float64)  # one feature has one axis only
    points[:, : first.shape[1]] = centred @ (first * torch.where(largest < 0, -1.0, 1.0))
    held = strengths[-2:].sum() / strengths.sum().clamp(min=1e-30)
    return points.float(), float(held)
