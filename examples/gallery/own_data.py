"""
Data of your own
================
A torch `Dataset`, a list of PIL images or of files, or an array of bytes: `as_source` takes them.
Here shapes are drawn, trained on without labels, and look apart in two dimensions.
"""

import sys

import matplotlib.pyplot as plt
import torch
from PIL import Image, ImageDraw
from torch.utils.data import Dataset

from counterpoint import NarrowResNet, as_source, pretrain, simclr, training_of

SMOKE = "--smoke" in sys.argv
KINDS = ("circle", "square", "stripes")


class Shapes(Dataset):
    """Each sample is a PIL image and a label; sizes may differ."""

    def __len__(self):
        return 96 if SMOKE else 300

    def __getitem__(self, number):
        side, kind = 32 + number % 9, number % 3
        image = Image.new("RGB", (side, side), (40, 40 + number % 50, 90))
        pen, box = ImageDraw.Draw(image), (6, 6, side - 7, side - 7)
        if kind == 0:
            pen.ellipse(box, fill=(220, 200, 60))
        elif kind == 1:
            pen.rectangle(box, fill=(220, 200, 60))
        for x in range(4, side, 6) if kind == 2 else ():
            pen.line((x, 0, x, side), fill=(220, 200, 60), width=2)
        return image, kind


# %%
shapes = as_source(Shapes(), name="shapes")
run = pretrain(
    simclr(NarrowResNet(widths=(16, 32), blocks=(1, 1)), size=32),
    shapes,
    out="runs/shapes",
    size=32,
    training=training_of("simclr-small", batch=48),
    steps=2 if SMOKE else 40,
    workers=0,
    health=False,
)
vectors = run.embed(shapes)
print(vectors.shape)

# %%
# The first two principal components; the labels only colour the points.
centred = vectors.float() - vectors.float().mean(dim=0)
flat = centred @ torch.linalg.svd(centred, full_matrices=False)[2][:2].T
labels = torch.arange(len(flat)) % 3
plt.figure(figsize=(5, 4))
for kind, name in enumerate(KINDS):
    plt.scatter(*flat[labels == kind].T, s=8, label=name)
plt.legend()
plt.show()
