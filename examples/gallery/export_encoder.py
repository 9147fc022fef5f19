"""
Hand an encoder to others
=========================
An encoder as an ONNX file and as a folder that timm loads, proved in fresh processes, and then used
without Counterpoint.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from counterpoint import open_encoder
from counterpoint.cli import main

SMOKE = "--smoke" in sys.argv
run = open_encoder(encoder="timm/resnet10t", size=32, out="runs/encoder")
images = torch.randint(
    256, (4, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
)

# %%
# The same as `counterpoint export runs/encoder --out exported --only onnx`.
main(["export", "runs/encoder", "--out", "exported", "--only", "onnx"])
print(sorted(file.name for file in Path("exported").iterdir()))

# %%
# onnxruntime takes normalised pixels; the vectors are those of the run.
(file,) = Path("exported").rglob("*.onnx")
session = onnxruntime.InferenceSession(str(file))
(view,) = run.transform(images)
(vectors,) = session.run(None, {session.get_inputs()[0].name: view.numpy()})
print(vectors.shape, f"largest difference {np.abs(vectors - run.embed(images).numpy()).max():.0e}")
