"""SimCLR's views, one thread each: ours, lightly's and kornia's; then from JPEG files.

The same real images, stages and probabilities for all; rounds alternate in one process, and
figures are medians. lightly gets decoded Pillow images, the others a batch of bytes. At 32
pixels as on CIFAR-10: no blur, half the jitter. Files: decode and one crop of 128 pixels, as a
bare loop with Pillow does it, against what our workers do.
"""

import io
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import kornia.augmentation as K
import numpy as np
import torch
from lightly.transforms import SimCLRTransform
from PIL import Image
from torch import Tensor

from bench.report import Bar, finish
from counterpoint.data import cifar10, image_files
from counterpoint.framework import Draw
from counterpoint.parts.views import (
    HorizontalFlip,
    Pipeline,
    RandomResizedCrop,
    blur,
    colour,
    pipelines,
)

ROUNDS = 7
FOLDER = Path(os.environ["COUNTERPOINT_DATA"])
COUNTS = {32: 512, 96: 128, 224: 32}  # images a batch


def squares(side: int, count: int) -> list[Image.Image]:
    """Photos, the central square of each resized."""
    found = []
    for path in sorted((FOLDER / "caltech20").glob("*/*.jpg"))[:: 1490 // count][:count]:
        photo = Image.open(path).convert("RGB")
        half = min(photo.size) // 2
        x, y = photo.width // 2, photo.height // 2
        found.append(photo.crop((x - half, y - half, x + half, y + half)).resize((side, side)))
    return found


def pillow_images(size: int) -> list[Image.Image]:
    if size == 32:
        images = cifar10(FOLDER / "cifar10").train.images[: COUNTS[32]]
        return [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]
    return squares({96: 96, 224: 256}[size], COUNTS[size])


def kornia_views(size: int) -> Callable[[Tensor], Tensor]:
    strength = 0.5 if size == 32 else 1.0
    jitter = (0.8 * strength, 0.8 * strength, 0.8 * strength, 0.2 * strength)
    kernel = size // 20 * 2 + 1
    blur = [K.RandomGaussianBlur((kernel, kernel), (0.1, 2.0), p=0.5)] if size > 32 else []
    return K.AugmentationSequential(
        K.RandomResizedCrop((size, size), scale=(0.08, 1.0)),
        K.RandomHorizontalFlip(),
        K.ColorJitter(*jitter, p=0.8),
        K.RandomGrayscale(p=0.2),
        *blur,
        K.Normalize(torch.tensor([0.5] * 3), torch.tensor([0.25] * 3)),
    )


def rates(work: dict[str, Callable[[], int]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return items per second of each, alternating."""
    taken: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, do in work.items():
            started = time.perf_counter()
            count = do()
            if turn:  # the first is a warm-up
                taken[name].append(count / (time.perf_counter() - started))
    return {name: statistics.median(values) for name, values in taken.items()}


def views(size: int) -> dict[str, float]:
    """Return views per second of ours and of the peers."""
    pillow = pillow_images(size)
    arrays = [torch.from_numpy(np.array(image)) for image in pillow]
    batch = torch.stack(arrays).permute(0, 3, 1, 2)  # as decoders give them: channels last
    small = size == 32
    theirs = SimCLRTransform(
        input_size=size, cj_strength=0.5 if small else 1.0, gaussian_blur=0.0 if small else 0.5
    )
    kornia = kornia_views(size)
    built = pipelines.simclr_views(size).build(tuple(batch.shape[1:]))
    draw = Draw(0, 0, torch.arange(len(batch)))

    def ours() -> int:
        return sum(len(view) for view in built(batch, draw))

    def lightly() -> int:
        return sum(len(theirs(image)) for image in pillow[: len(pillow) // 4])

    def kornias() -> int:
        some = batch[: len(batch) // 4].contiguous()
        return sum(len(kornia(some.float() / 255)) for _ in range(2))

    def without_numba() -> int:
        with patch.object(colour, "compiled_for", _none), patch.object(blur, "compiled_for", _none):
            return ours()

    return rates(
        {
            "counterpoint": ours,
            "lightly": lightly,
            "kornia": kornias,
            "counterpoint without numba": without_numba,
        }
    )


def _none(_: Tensor) -> None:
    """Stand for a machine that has no numba."""


def files() -> dict[str, float]:
    """Return images per second from JPEG files to crops of 128 pixels."""
    found = image_files(FOLDER / "caltech20")
    found = found.subset("every fifth", torch.arange(0, len(found), 5))
    encoded = [path.read_bytes() for path in found.paths]
    index = torch.arange(len(found))
    one = Pipeline((RandomResizedCrop(128), HorizontalFlip()), views=1).build((3, 128, 128))
    two = pipelines.simclr_views(128).build((3, 128, 128))
    draws = np.random.default_rng(0)

    def bare() -> int:
        for data in encoded:
            image = Image.open(io.BytesIO(data)).convert("RGB")
            side = int(min(image.size) * (0.3 + 0.7 * draws.random()))
            left, top = (int(draws.random() * (length - side)) for length in image.size)
            box = image.crop((left, top, left + side, top + side))
            np.asarray(box.resize((128, 128), Image.Resampling.BILINEAR))
        return len(encoded)

    def worker() -> int:
        return sum(len(cut) for cut in one.cut(found.pictures(index), Draw(0, 0, index)))

    def whole() -> int:
        draw = Draw(0, 0, index)
        return len(two.finish(two.cut(found.pictures(index), draw), draw)[0])

    return rates({"bare": bare, "worker": worker, "whole": whole}, rounds=3)


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    figures, bars = {}, []
    for size in COUNTS:
        rate = views(size)
        figures |= {f"{size} px: {name}, views/s": value for name, value in rate.items()}
        least = {"lightly": 15, "kornia": 4} if size == 32 else {"lightly": 3}
        for name, times in least.items():
            share = rate[name] / rate["counterpoint"]
            bars.append(Bar(f"{size} px: {name}'s speed, of ours (1/{times})", share, 1 / times))
    rate = files()
    figures |= {
        "JPEG: bare decode and one crop, images/s": rate["bare"],
        "JPEG: our worker, one crop, images/s": rate["worker"],
        "JPEG: both views of SimCLR, finished, images/s": rate["whole"],
    }
    bars.append(Bar("JPEG: the bare speed, of ours (1/0.8)", rate["bare"] / rate["worker"], 1.25))
    finish("views", figures, bars)


if __name__ == "__main__":
    main()
