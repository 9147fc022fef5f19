"""A million real vectors: CIFAR-10 images under recorded views, by a small trained encoder.

View number e of image n is what `VIEWS` draws for seed 0, epoch e and sample n, so the images can
be made again from nothing but these numbers. They are written to an .npy file, and embedded by the
command that users have.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

from counterpoint import ColourJitter, HorizontalFlip, Pipeline, RandomResizedCrop, open_data
from counterpoint.framework import Draw
from counterpoint.parts.encoders import NarrowResNet

COUNT, SOME = 1_000_000, 1_000
VIEWS = Pipeline(
    (RandomResizedCrop(32, scale=(0.3, 1.0)), HorizontalFlip(), ColourJitter(0.4, 0.4, 0.4, 0.1)),
    views=1,
)
ENCODER = NarrowResNet(widths=(16, 32, 64, 128), blocks=(1, 1, 1, 1))
COMMAND = [sys.executable, "-c", "from counterpoint.cli import main; main()"]


def train(folder: Path, steps: int) -> Path:
    """Train the small encoder on CIFAR-10 for a few minutes."""
    from counterpoint import pretrain
    from counterpoint.methods import simclr_small

    if not (folder / "run" / "run.json").is_file():
        images = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
        pretrain(simclr_small(ENCODER), images, out=folder / "run", steps=steps, resume="auto")
    return folder / "run"


def write_views(folder: Path, count: int = COUNT) -> Path:
    """Write views of all images, one epoch after the other."""
    file = folder / "views.npy"
    if file.is_file():
        return file
    splits = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    images = torch.cat([s.images for s in (splits.train, splits.validation, splits.test)])
    views = VIEWS.build((3, 32, 32))
    unfinished = file.with_suffix(".unfinished")
    whole = np.lib.format.open_memmap(unfinished, "w+", np.uint8, (count, 3, 32, 32))
    for first in range(0, count, SOME):
        numbers = torch.arange(first, min(count, first + SOME))
        samples = numbers % len(images)
        (view,) = views(images[samples], Draw(0, first // len(images), samples))
        whole[first : first + len(numbers)] = (view * 255).round().clamp(0, 255).byte().numpy()
    whole.flush()
    unfinished.rename(file)
    return file


def million_vectors(folder: Path, *, steps: int = 500, count: int = COUNT) -> Path:
    """Return the folder of the vectors; whatever is there already is not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    run, views = train(folder, steps), write_views(folder, count)
    print(f"encoder and views: {time.perf_counter() - started:.0f} s", flush=True)
    out = folder / "vectors"
    started = time.perf_counter()
    typed = ["embed", str(run), str(views), "--out", str(out), "--copies", "0"]
    subprocess.run([*COMMAND, *typed], check=True)
    print(f"embedding: {time.perf_counter() - started:.0f} s", flush=True)
    return out


def main(arguments: list[str]) -> None:
    million_vectors(Path(arguments[0] if arguments else "tmp-vectors"))


if __name__ == "__main__":
    main(sys.argv[1:])
