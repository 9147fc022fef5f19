"""What every probe of frozen vectors takes and gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

Vectors = Float[Tensor, "_ feature"]
Labelled = tuple[Vectors, Int64[Tensor, " _"]]
"""Frozen vectors and their classes."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A trained probe, the settings chosen on validation and what they reached there."""

    predict: Callable[[Vectors], Float[Tensor, "_ class"]]
    """Vectors in, the probability of each class out."""
    validation: float
    settings: Mapping[str, float | int]

    def accuracy(self, data: Labelled) -> float:
        return float((self.predict(data[0]).argmax(dim=1) == data[1]).double().mean())


class Standardise(nn.Module):
    """Give every feature mean 0 and deviation 1, measured on the training split."""

    mean: Tensor
    std: Tensor

    def __init__(self, train: Vectors) -> None:
        super().__init__()
        self.register_buffer("mean", train.mean(dim=0))
        self.register_buffer("std", train.std(dim=0).clamp(min=1e-6))

    def forward(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.std


@torch.inference_mode()
def probabilities(net: nn.Module, vectors: Vectors) -> Float[Tensor, "_ class"]:
    """Run a classifier at rest."""
    net.eval()
    return net(vectors).softmax(dim=1)  # type: ignore[no-any-return]
