"""What images in memory must be, said before anything is done with them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

SCALED = "numbers from 0 to 1 become (images * 255).round().to(torch.uint8)"


def check_images(name: str, images: Any) -> None:
    """Refuse what is not a tensor of bytes (sample, channel, height, width)."""
    if not isinstance(images, Tensor):
        line = (
            "write torch.from_numpy(images), with .permute(0, 3, 1, 2) if the channels are last"
            if isinstance(images, np.ndarray)
            else "needs a tensor (n, channels, height, width) of uint8; as_source takes a list"
        )
        raise TypeError(f"data: the images of {name} are {_kind(images)}; {line}")
    if images.dtype != torch.uint8:
        hint = f"; {SCALED}" if images.is_floating_point() else "; images.to(torch.uint8)"
        raise ValueError(f"data: the images of {name} are {images.dtype}, needs torch.uint8{hint}")
    shape = tuple(images.shape)
    if images.ndim != 4:
        more = "; images[:, None] adds the channel of grey images" if images.ndim == 3 else ""
        raise ValueError(
            f"data: the images of {name} are {shape}, needs (n, channels, height, width){more}"
        )
    if shape[1] > 4 and shape[3] in (1, 3):
        raise ValueError(
            f"data: the images of {name} are {shape}: the channels are last, needs them second; "
            "images.permute(0, 3, 1, 2)"
        )
    if len(images) and not images[0].numel():
        raise ValueError(f"data: the images of {name} are {shape}: they have no pixels")


def check_labels(name: str, labels: Any, count: int) -> None:
    """Refuse labels that are not a whole number, 0 or more, for each of `count` images."""
    if not isinstance(labels, Tensor):
        line = "torch.from_numpy" if isinstance(labels, np.ndarray) else "torch.tensor"
        raise TypeError(
            f"data: the labels of {name} are {_kind(labels)}; write {line}(labels).long()"
        )
    if tuple(labels.shape) != (count,):
        raise ValueError(
            f"data: the labels of {name} are {tuple(labels.shape)}, "
            f"needs ({count},): one for each image"
        )
    if labels.dtype != torch.int64:
        raise ValueError(
            f"data: the labels of {name} are {labels.dtype}, needs torch.int64; labels.long()"
        )
    if count and int(labels.min()) < 0:
        raise ValueError(
            f"data: a label of {name} is {int(labels.min())}, needs 0 and up; "
            "leave the labels out (None) where there are none"
        )


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a numpy array {value.shape} of {value.dtype}"
    return f"of type {type(value).__name__}"
