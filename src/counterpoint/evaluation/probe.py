"""What every probe of frozen vectors takes and gives."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

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
        return share_right(self.predict(data[0]).argmax(dim=1), data[1])


def fitted_on(
    device: torch.device,
    fit: Callable[[Labelled, Labelled], Fitted],
    train: Labelled,
    validation: Labelled,
) -> Fitted:
    """Train a probe on a device, which then takes and gives what is on the CPU.

    Vectors that do not fit into the device's memory are probed on the CPU.
    """
    if device.type == "cpu":
        return fit(train, validation)
    try:
        known, held = ((data[0].to(device), data[1].to(device)) for data in (train, validation))
        found = fit(known, held)
    except torch.OutOfMemoryError:
        size = train[0].numel() * 4 / 2**30
        sys.stderr.write(f"evaluation: {size:.1f} GiB of vectors are probed on the CPU\n")
        return fit(train, validation)
    return replace(found, predict=lambda vectors: found.predict(vectors.to(device)).cpu())


class Standardise(nn.Module):
    """Scale every feature to mean 0 and deviation 1, measured on the training split.

    A feature that is constant there is only centred: divided by almost nothing, it would drown all
    others wherever it is not constant.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, train: Vectors) -> None:
        super().__init__()
        self.register_buffer("mean", train.mean(dim=0))
        std = train.std(dim=0)
        self.register_buffer("std", torch.where(std > 1e-6, std, 1.0))

    def forward(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.std


def share_right(predicted: Int64[Tensor, " _"], true: Int64[Tensor, " _"]) -> float:
    """Return the share of the samples that were predicted right.

    >>> share_right(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))
    0.6666666666666666
    """
    return int((predicted == true).sum()) / len(true)  # no float64: MPS has none


@torch.inference_mode()
def probabilities(net: nn.Module, vectors: Vectors) -> Float[Tensor, "_ class"]:
    """Run a classifier at rest."""
    net.eval()
    shares: Tensor = net(vectors).softmax(dim=1)
    return shares
