"""
Find what to leave out
======================
A photo is planted twice in a folder: once as the same file, once smaller and saved again. `curate`
finds both, and lists what looks unlike everything else.
"""

import os
import shutil
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

from counterpoint import embed_data, open_encoder
from counterpoint.curation.curator import curate

SMOKE = "--smoke" in sys.argv
DATA = Path(os.environ["COUNTERPOINT_DATA"])
Path("photos").mkdir()
files = sorted((DATA / "caltech20").glob("*/*.jpg"))[:: 12 if SMOKE else 8]
for number, file in enumerate(files):
    shutil.copy(file, f"photos/{number:04}.jpg")
shutil.copy(files[7], "photos/again.jpg")
small = Image.open(files[30]).convert("RGB")
small.resize((small.width * 2 // 3, small.height * 2 // 3)).save("photos/smaller.jpg", quality=70)

# %%
encoder = open_encoder(
    encoder="timm/tf_efficientnet_lite0",
    weights=DATA / "weights/tf_efficientnet_lite0.safetensors",
    size=64 if SMOKE else 128,
)
vectors = embed_data(encoder, "photos", "vectors", workers=0, copies=40)
found = curate(vectors, precision=0.95)
names = [Path(path).name for path in vectors.paths]
print("equal files:", [[names[i] for i in pair] for pair in found.equal.tolist()])
print("near-duplicates:", [[names[i] for i in pair] for pair in found.near.ends.tolist()])
print(f"outliers: {int(found.outliers.sum())} of {len(names)}")

# %%
# The photos that are least like the others.
figure, axes = plt.subplots(1, 6, figsize=(10, 1.9))
for axis, row in zip(axes, found.closeness.argsort().tolist(), strict=False):
    axis.imshow(
        Image.open(vectors.full_path(int(vectors.samples[row]))).convert("RGB").resize((96, 96))
    )
    axis.set_title(f"{found.closeness[row]:.2f}")
    axis.axis("off")
plt.show()
