"""How the images of shards are named: by their files below the data."""

import os
from pathlib import Path


def image_name(path: str | None, root: str, *, split: str, sample: int) -> str:
    """Name an image by its file below the data, so that a copy makes the same shards.

    Shards have relative names already: those of the images that they were made of.

    >>> image_name("/photos/cat/1.jpg", "/photos", split="train", sample=7)
    'cat/1.jpg'
    >>> image_name("cat/1.jpg", "/shards", split="train", sample=7)
    'cat/1.jpg'
    >>> image_name(None, "/images.npy", split="train", sample=7)
    'train/7'
    """
    if path is None:
        return f"{split}/{sample}"
    if path.startswith(f"{root}/"):  # almost always, and relpath takes as long as a decode
        return path[len(root) + 1 :]
    return os.path.relpath(path, root) if Path(path).is_absolute() else path
