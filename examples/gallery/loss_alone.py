"""
The loss alone, in a plain loop
===============================
`nt_xent` in a loop of plain torch, held against `pretrain`: the same weights in the end. Both run in
double precision, since a rounding of single precision grows to 5e-4 over 32 steps at this rate.
"""

import os
import sys

import torch

from counterpoint import ArraySource, NarrowResNet, Training, nt_xent, open_data, pretrain, simclr
from counterpoint.data import Batches
from counterpoint.framework import Draw
from counterpoint.training.optimisers import optimiser, rate

SMOKE = "--smoke" in sys.argv
pixels = open_data(os.environ["COUNTERPOINT_DATA"] + "/cifar10").train.images[
    : 64 if SMOKE else 512
]
images = ArraySource("some", pixels)
method = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
training = Training(
    epochs=2,
    batch=32,
    optimiser="sgd",
    lr=0.1,
    weight_decay=0.0,
    schedule="steps",
    warmup=0.0,
    precision="64-true",
)

# %%
# The command's way.
run = pretrain(method, images, out="runs/command", training=training, workers=0, health=False)

# %%
# The plain way: two views, the encoder, the projection head, the loss, a step. The order of images and
# the views are functions of seed, epoch and sample, so both ways see the same.
torch.manual_seed(training.seed)
model = method.build(image=(3, 32, 32)).double()
chosen = optimiser(model, training)  # torch.optim.SGD
batches = Batches(images, batch=32, seed=training.seed)
step, steps = 0, 2 * len(pixels) // 32
for epoch in range(2):
    batches.sampler.set_epoch(epoch)
    for batch, index, _ in batches:
        views = model.views(batch, Draw(training.seed, epoch, index))
        maps = model.encoder([view.double() for view in views])
        pooled = torch.cat([m[-1].mean(dim=(2, 3)) for m in maps])
        first, second = model.similarity.p(pooled).chunk(2)  # batch norm sees both views
        loss = nt_xent(first, second, tau=method.similarity.tau)
        for group in chosen.param_groups:
            group["lr"] = training.scaled_lr * rate(step, training, steps=steps)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        step += 1

# %%
far = max(
    (ours - theirs).abs().max().item()
    for ours, theirs in zip(run.model.parameters(), model.parameters(), strict=True)
)
print(f"loss {loss.item():.6f}; largest difference of a weight {far:.1e}")
assert far < 1e-6
