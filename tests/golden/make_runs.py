"""Runs to be frozen: two that ended and one that was stopped, tiny, on real images.

`python tests/golden/make_runs.py FOLDER` writes them, with the vectors that they give for eight
images and every loss of the stopped one. Those of `runs/` were written by the version of the
commit 655bbb3 and stay as they are; a new format gets another folder.
"""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path

import lightning as L
import torch
from PIL import Image
from safetensors.torch import save_file

from counterpoint import open_data, pretrain
from counterpoint.data import Splits
from counterpoint.methods import byol_small, cmc_small, simclr_small, training_of
from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet, PerView
from counterpoint.parts.extraction import Bank
from counterpoint.parts.similarity import PredictedCosine, ProjectedCosine

IMAGES, STOP = 64, 5
RESNET = NarrowResNet(widths=(8, 16), blocks=(1, 1))


def methods():
    """BYOL with a twin, SimCLR for files, CMC with a bank: each with narrow heads."""
    head = Headed(of=RESNET, out=16, hidden=32, norm=True)
    one = Headed(of=RESNET, out=16)
    return {
        "byol": byol_small(RESNET).swap(
            encoder=MomentumEncoder(of=head, decay=0.97, rises=True),
            similarity=PredictedCosine(hidden=32),
        ),
        "simclr-files": simclr_small(RESNET, size=24).swap(
            similarity=ProjectedCosine(hidden=32, out=16)
        ),
        "cmc-stopped": cmc_small(RESNET).swap(
            encoder=PerView(of=(one, one)), extraction=Bank(samples=9, negatives=32)
        ),
    }


def settings(name):
    recipe = {"byol": "byol-small", "simclr-files": "simclr-small", "cmc-stopped": "cmc-small"}
    return training_of(recipe[name], batch=16, epochs=2 if name != "cmc-stopped" else 3)


def splits(name, place, scratch):
    """64 images of CIFAR-10, in memory or written as bitmaps of varying size."""
    cifar = open_data(place / "cifar10", limit=IMAGES)
    if name != "simclr-files":
        return cifar
    folder = scratch / "bitmaps"
    if not folder.is_dir():
        for number, (image, label) in enumerate(
            zip(cifar.train.images, cifar.train.labels.tolist(), strict=True)
        ):
            file = folder / str(label) / f"{number:02}.bmp"
            file.parent.mkdir(parents=True, exist_ok=True)
            cut = image[:, : 32 - number % 5, : 24 + number % 9]
            Image.fromarray(cut.permute(1, 2, 0).numpy()).save(file)
    files = open_data(folder).train  # a tenth of it is too few to score
    return Splits(files, files, files)


class Losses(L.Callback):
    """Every loss, and a signal to stop after some step."""

    def __init__(self, stop=None):
        self.losses, self.stop = {}, stop

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.losses[trainer.global_step] = float(outputs["loss"])
        if trainer.global_step == self.stop:
            os.kill(os.getpid(), signal.SIGTERM)


def train(name, given, out, *, stop=None, **more):
    """Train one; give the run and its losses by step."""
    losses = Losses(stop)
    side = {"size": 24} if name == "simclr-files" else {}
    run = None
    with contextlib.suppress(SystemExit):
        run = pretrain(
            methods()[name],
            given,
            out=out,
            training=settings(name),
            workers=0,
            accelerator="cpu",
            callbacks=[losses],
            **side,
            **more,
        )
    return run, losses.losses


def main(folder, place, scratch):
    torch.set_num_threads(1)
    for name in methods():
        given = splits(name, place, scratch)
        if name == "cmc-stopped":
            run, losses = train(name, given, scratch / "whole")
            train(name, given, folder / name, stop=STOP)
            (folder / name / "losses.json").write_text(json.dumps(losses, indent=2) + "\n")
        else:
            run, _ = train(name, given, folder / name)
            run.evaluate(given, probes=("knn",), robust=0)
        vectors = {"vectors": run.embed(given.train.subset("eight", torch.arange(8)))}
        (folder / name / "embeddings.safetensors").unlink(missing_ok=True)
        save_file(vectors, folder / name / "vectors.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(os.environ["COUNTERPOINT_DATA"]), Path(sys.argv[2]))
