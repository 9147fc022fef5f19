"""
Nearest neighbours of a photo
=============================
Photos are embedded once, by weights that were trained elsewhere, and searched by cosine.
"""

import os
import sys

import matplotlib.pyplot as plt
import torch
from PIL import Image

from counterpoint import embed_data, open_encoder, search_vectors

SMOKE = "--smoke" in sys.argv
DATA = os.environ["COUNTERPOINT_DATA"]
photos = f"{DATA}/caltech20"
encoder = open_encoder(
    encoder="timm/tf_efficientnet_lite0",
    weights=f"{DATA}/weights/tf_efficientnet_lite0.safetensors",
    size=64 if SMOKE else 128,
)

# %%
vectors = embed_data(encoder, photos, "vectors", limit=40 if SMOKE else 100, workers=0, copies=0)
rows = torch.tensor([3, 20, 33])
near = search_vectors(vectors, vectors.matrix()[rows].float(), count=6, without=rows)
print(near.cosines.numpy().round(2))

# %%
# The first column is the query.
figure, axes = plt.subplots(len(rows), 7, figsize=(10, 4.4))
for line, row, found in zip(axes, rows.tolist(), near.rows.tolist(), strict=True):
    for axis, one in zip(line, [row, *found], strict=True):
        path = vectors.full_path(int(vectors.samples[one]))
        axis.imshow(Image.open(path).convert("RGB").resize((96, 96)))
        axis.axis("off")
plt.show()
