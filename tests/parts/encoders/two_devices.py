"""Pretrain on two devices an encoder whose norms have an activation, and open the run again.

    python two_devices.py FOLDER

Lightning starts this file once for each device; the first prints how far embeddings are apart.
"""

import os
import sys

import torch

from counterpoint.data import ArraySource
from counterpoint.framework.settings import Training
from counterpoint.methods import simclr
from counterpoint.parts.encoders import Timm
from counterpoint.pretraining import pretrain
from counterpoint.run import Run

if __name__ == "__main__":
    torch.set_num_threads(1)
    images = torch.randint(
        256, (32, 3, 64, 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    run = pretrain(
        simclr(Timm("regnetx_002"), size=64),
        ArraySource("noise", images),
        out=sys.argv[1],
        training=Training(optimiser="adam", lr=1e-3, batch=16, warmup=0),
        steps=2,
        health=False,
        accelerator="cpu",
        devices=2,
    )
    if os.environ.get("LOCAL_RANK", "0") == "0":
        ours, again = run.embed(images[:8]), Run.open(sys.argv[1]).embed(images[:8])
        print("apart", float((ours - again).norm() / ours.norm()))
