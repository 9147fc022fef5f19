"""
The health of a collapse
========================
BYOL without its predictor lets all vectors draw together. The loss looks wonderful; the verdict after
every epoch does not, and it needs no labels.
"""

import json
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from counterpoint import Cosine, NarrowResNet, byol_small, open_data, pretrain, training_of

SMOKE = "--smoke" in sys.argv
images = open_data(os.environ["COUNTERPOINT_DATA"] + "/cifar10").head(256 if SMOKE else 4096)
healthy = byol_small(NarrowResNet(widths=(16, 32), blocks=(1, 1)))
collapsing = healthy.swap(similarity=Cosine(tau=1.0))

# %%
# Both are trained for two short epochs; `health.jsonl` has a line for each.
figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for name, method in (("BYOL", healthy), ("without its predictor", collapsing)):
    pretrain(
        method,
        images,
        out=f"runs/{name}",
        training=training_of("byol-small", batch=64, epochs=1 if SMOKE else 2),
        workers=0,
    )
    lines = [
        json.loads(line) for line in Path(f"runs/{name}/health.jsonl").read_text().splitlines()
    ]
    print(f"{name}: {[line['verdict'] for line in lines]}")
    signs = [line.get("signs", line) for line in lines]
    axes[0].plot([s["compared_deviation"] for s in signs], marker="o", label=name)
    axes[1].plot([s["rankme"] for s in signs], marker="o")
axes[0].set_ylabel("spread of compared vectors")
axes[1].set_ylabel("dimensions in use (RankMe)")
for axis in axes:
    axis.set_xlabel("epoch")
axes[0].legend()
figure.tight_layout()
plt.show()
