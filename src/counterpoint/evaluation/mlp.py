"""The paper's probe: one hidden layer of 1,024 ReLU units on frozen features."""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from counterpoint.data.progress import tracked
from counterpoint.framework.randomness import keyed_order

Labelled = tuple[Float[Tensor, "_ feature"], Int64[Tensor, " _"]]
"""Frozen features and their classes."""

HIDDEN = 1_024  # section 4, Finetuning
DROPOUT = 0.2  # amdim-public, its MLP classifier
# The paper does not say how its MLP is trained. Ours: AdamW with a cosine, two rates and the best
# epoch chosen on validation.
RATES, EPOCHS, BATCH, WEIGHT_DECAY = (1e-3, 3e-4), 30, 256, 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A trained classifier and the validation accuracy it was chosen by."""

    net: nn.Module
    validation: float
    lr: float
    epoch: int

    def accuracy(self, data: Labelled) -> float:
        return _accuracy(self.net, data)


def mlp(train: Labelled, validation: Labelled, *, seed: int = 0, epochs: int = EPOCHS) -> Probe:
    """Train the probe and choose its learning rate and epoch on the validation split."""
    mean, std = train[0].mean(dim=0), train[0].std(dim=0).clamp(min=1e-6)
    classes = int(train[1].max()) + 1
    best: Probe | None = None
    for lr in RATES:
        net = _network(mean, std, classes, seed)
        optimiser = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=WEIGHT_DECAY)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
        for epoch in tracked(range(epochs), f"MLP probe, rate {lr:g}"):
            _one_epoch(net, optimiser, train, seed=seed, epoch=epoch)
            schedule.step()
            reached = _accuracy(net, validation)
            if best is None or reached > best.validation:
                best = Probe(copy.deepcopy(net), reached, lr, epoch + 1)
    assert best is not None
    return best


class Standardise(nn.Module):
    """Give every feature mean 0 and deviation 1, measured on the training split."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Tensor, std: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)

    def forward(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.std


def _network(mean: Tensor, std: Tensor, classes: int, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            Standardise(mean, std),
            nn.Linear(len(mean), HIDDEN),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, classes),
        )


def _one_epoch(
    net: nn.Module, optimiser: torch.optim.Optimizer, train: Labelled, *, seed: int, epoch: int
) -> None:
    net.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + epoch)  # of the dropout
        for part in keyed_order(len(train[1]), seed=seed, epoch=epoch).split(BATCH):
            loss = F.cross_entropy(net(train[0][part]), train[1][part])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


@torch.inference_mode()
def _accuracy(net: nn.Module, data: Labelled) -> float:
    net.eval()
    return float((net(data[0]).argmax(dim=1) == data[1]).double().mean())
