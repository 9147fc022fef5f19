"""The paper's probe: one hidden layer of 1,024 ReLU units on frozen features."""

import copy
import functools

import torch
import torch.nn.functional as F
from torch import nn

from counterpoint.evaluation.probe import (
    Fitted,
    Labelled,
    Standardise,
    Vectors,
    probabilities,
    share_right,
)
from counterpoint.evaluation.seeds import mixed
from counterpoint.framework.philox import keyed_order
from counterpoint.progress import tracked

HIDDEN = 1_024  # section 4, Finetuning
DROPOUT = 0.2  # amdim-public, its MLP classifier
# The paper does not say how its MLP is trained. Ours: AdamW with a cosine, two rates and the best
# epoch chosen on validation.
RATES, EPOCHS, BATCH, WEIGHT_DECAY = (1e-3, 3e-4), 30, 256, 1e-4


def mlp(train: Labelled, validation: Labelled, *, seed: int = 0, epochs: int = EPOCHS) -> Fitted:
    """Train the probe and choose its learning rate and epoch on the validation split.

    >>> known = torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]), torch.tensor([0, 0, 1, 1])
    >>> mlp(known, known, epochs=2).validation
    1.0
    """
    classes = int(train[1].max()) + 1
    best: Fitted | None = None
    for lr in RATES:
        net = _network(train[0], classes, seed)
        optimiser = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=WEIGHT_DECAY)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
        for epoch in tracked(range(epochs), f"MLP probe, rate {lr:g}"):
            _one_epoch(net, optimiser, train, seed=seed, epoch=epoch)
            schedule.step()
            reached = _accuracy(net, validation)
            if best is None or reached > best.validation:
                chosen = functools.partial(probabilities, copy.deepcopy(net))
                best = Fitted(chosen, reached, {"lr": lr, "epoch": epoch + 1})
    assert best is not None
    return best


def _network(train: Vectors, classes: int, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            Standardise(train),
            nn.Linear(train.shape[1], HIDDEN),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, classes),
        ).to(train.device)


def _one_epoch(
    net: nn.Module, optimiser: torch.optim.Optimizer, train: Labelled, *, seed: int, epoch: int
) -> None:
    net.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(mixed(seed, epoch))  # of the dropout
        for part in keyed_order(len(train[1]), seed=seed, epoch=epoch).split(BATCH):
            loss = F.cross_entropy(net(train[0][part]), train[1][part])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def _accuracy(net: nn.Module, data: Labelled) -> float:
    return share_right(probabilities(net, data[0]).argmax(dim=1), data[1])
