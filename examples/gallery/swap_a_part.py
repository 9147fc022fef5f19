"""
Hold four parts, swap the fifth
===============================
SimCLR with three losses and the same encoder, views, seed and steps. A swap that cannot work is
refused when it is built, before any data is read.
"""

import os
import sys

import matplotlib.pyplot as plt

from counterpoint import (
    NCE,
    NarrowResNet,
    PartError,
    Pooled,
    Triplet,
    open_data,
    pretrain,
    simclr,
    training_of,
)

SMOKE = "--smoke" in sys.argv
images = open_data(os.environ["COUNTERPOINT_DATA"] + "/cifar10").head(200 if SMOKE else 1000)
method = simclr(NarrowResNet(widths=(16, 32), blocks=(1, 1)))
print(method)

# %%
# Four parts are held; the loss varies.
losses = {"NCE": NCE(), "NCE, negatives only": NCE(denominator="negatives"), "triplet": Triplet()}
accuracy = {}
for name, loss in losses.items():
    run = pretrain(
        method.swap(loss=loss),
        images,
        out=f"runs/{name}",
        training=training_of("simclr-small", batch=64),
        steps=2 if SMOKE else 30,
        workers=0,
        health=False,
    )
    result = run.evaluate(images, probes=("knn",), robust=0)
    accuracy[name] = result.probes[0].test
    print(f"{name}: kNN {accuracy[name]:.3f}")

# %%
# Thirty steps decide nothing: `counterpoint study` compares with seeds and significance.
plt.figure(figsize=(6, 2))
plt.barh(list(accuracy), list(accuracy.values()), color="#4c8fd0")
plt.xlabel("kNN accuracy on test images")
plt.show()

# %%
# A map that the encoder does not have is refused.
try:
    method.swap(extraction=Pooled(map=7)).build(image=(3, 32, 32))
except PartError as refused:
    print(refused)
