"""
A loss of your own
==================
A frozen dataclass with `part` and `build` is a loss. This one is NCE that looks less at what is
already easy, and is trained beside plain NCE.
"""

import os
import sys
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import torch

from counterpoint import NCE, NarrowResNet, Terms, contrast, open_data, simclr
from counterpoint.framework import Draw
from counterpoint.parts.losses.softmax import summarise

SMOKE = "--smoke" in sys.argv


@dataclass(frozen=True)
class Focal:
    """(1 - p)^gamma * -log p, where p is the share of the positive."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = True
    gamma: float = 2.0

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        s = summarise(scores)  # positive scores, and one number for the negatives
        log_p = s.positive - torch.logaddexp(s.positive, s.negative[s.anchor])
        terms = (1 - log_p.exp()) ** self.gamma * -log_p
        return Terms(terms.sum(), terms.new_full((), len(terms)))


# %%
# `contrast` gives the loss of a batch, views and all: ten lines train it.
images = open_data(os.environ["COUNTERPOINT_DATA"] + "/cifar10").train.images
plt.figure(figsize=(6, 3))
for loss in (NCE(), Focal()):
    torch.manual_seed(0)
    model = (
        simclr(NarrowResNet(widths=(16, 32), blocks=(1, 1)))
        .swap(loss=loss)
        .build(image=(3, 32, 32))
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    curve = []
    for step in range(3 if SMOKE else 40):
        index = torch.arange(step * 64, (step + 1) * 64)
        value = contrast(model, model.views(images[index], Draw(0, 0, index)), index)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        curve.append(value.item())
    print(f"{type(loss).__name__}: {curve[0]:.3f} to {curve[-1]:.3f}")
    plt.plot(curve, label=type(loss).__name__)
plt.xlabel("step")
plt.ylabel("loss")
plt.legend()
plt.show()
