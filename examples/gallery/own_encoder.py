"""
An encoder of your own
======================
Any `nn.Module` that gives a vector or feature maps is an encoder.
"""

import os
import sys

from torch import nn

from counterpoint import Run, as_encoder, open_data, open_encoder, pretrain, simclr, training_of

SMOKE = "--smoke" in sys.argv
images = open_data(os.environ["COUNTERPOINT_DATA"] + "/cifar10").head(200 if SMOKE else 1000)


class Net(nn.Module):
    """Three convolutions; the last map is (b, 64, 4, 4)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


# %%
# Trained without labels, then measured with them, beside the same network with random weights.
run = pretrain(
    simclr(as_encoder(Net)),
    images,
    out="runs/net",
    training=training_of("simclr-small", batch=64),
    steps=2 if SMOKE else 40,
    workers=0,
    health=False,
)
before = open_encoder(encoder=as_encoder(Net), size=32)
for name, one in (("random", before), ("trained", run)):
    knn = one.evaluate(images, probes=("knn",), robust=0).probes[0]
    print(f"{name}: kNN {knn.test:.3f}")

# %%
# A run keeps the weights and the name of the class, never code. Whoever opens it brings the class.
again = Run.open("runs/net", encoder=Net)
print(again.embed(images.test.images[:8]).shape)
