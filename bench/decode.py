"""Decoders of JPEG files, one thread: Pillow, Pillow at a fraction, TorchCodec, torchvision.

On the photos of caltech20 (about 300 x 200 pixels) and on the same photos at 12 megapixels,
decoded to views of 224 pixels: what a crop of three quarters of the picture needs.
"""

import io
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torchvision.io
from PIL import Image
from torchcodec.decoders import decode_jpeg

from bench.report import finish
from counterpoint.data.pictures import open_picture

ROUNDS = 5
FOLDER = Path(os.environ["COUNTERPOINT_DATA"]) / "caltech20"


def photos() -> list[bytes]:
    return [path.read_bytes() for path in sorted(FOLDER.glob("*/*.jpg"))[::6]]


def large(count: int = 8) -> list[bytes]:
    found = []
    for data in photos()[:count]:
        buffer = io.BytesIO()
        Image.open(io.BytesIO(data)).convert("RGB").resize((4000, 3000)).save(buffer, "JPEG")
        found.append(buffer.getvalue())
    return found


def pillow(data: bytes) -> object:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def ours(data: bytes) -> object:
    picture = open_picture(data, "photo")
    return picture.decode(min(1.0, 224 / (0.75 * min(picture.height, picture.width))))


def torchvisions(data: bytes) -> object:
    given = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return torchvision.io.decode_jpeg(given, mode=torchvision.io.ImageReadMode.RGB)


def main() -> None:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    work: dict[str, Callable[[bytes], object]] = {
        "Pillow, whole": pillow,
        "ours: Pillow, as small as needed": ours,
        "TorchCodec": decode_jpeg,
        "torchvision.io (deprecated)": torchvisions,
    }
    figures = {}
    for what, data in (("caltech20", photos()), ("12 megapixels", large())):
        taken: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(ROUNDS):
            for name, decode in work.items():
                started = time.perf_counter()
                for one in data:
                    decode(one)
                taken[name].append(len(data) / (time.perf_counter() - started))
        figures |= {f"{what}: {name}, images/s": statistics.median(t) for name, t in taken.items()}
    finish("decode", figures, [])


if __name__ == "__main__":
    main()
