"""The views of a method as a transform, for a data loader or a training loop of one's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from counterpoint.framework import Draw, Method, Views
from counterpoint.framework.records import Images, Index, View

FRESH = 2**62  # sample numbers that are drawn, so that two calls see different randomness


@dataclass(frozen=True, slots=True)
class ViewTransform:
    """The views of a PIL image, of a uint8 tensor (c, h, w), or of a batch (b, c, h, w).

    Each call gives a list of views, (c, h, w) for one image and (b, c, h, w) for a batch, made on
    the device that the tensor is on. Every call draws anew from torch's generator, as the
    transforms of torchvision do. With `index`, the number of the sample (of each sample in a
    batch), randomness is a function of seed, epoch and sample and of nothing else: the views are
    those that `pretrain` makes.

    >>> from counterpoint.parts.views import HorizontalFlip, Pipeline
    >>> flips = ViewTransform(Pipeline((HorizontalFlip(),)))
    >>> [view.shape for view in flips(torch.zeros(3, 8, 8, dtype=torch.uint8))]
    [torch.Size([3, 8, 8]), torch.Size([3, 8, 8])]
    """

    of: Views | Method
    seed: int = 0
    evaluation: bool = False
    """Return the view that is embedded and classified, in which there is no chance."""

    def __call__(
        self, image: Any, *, index: int | Index | None = None, epoch: int = 0
    ) -> list[View]:
        batch, single = _batch(image)
        settings = self.of.views if isinstance(self.of, Method) else self.of
        views = settings.build(tuple(batch.shape[1:]))
        numbers = _numbers(index, len(batch)).to(batch.device, non_blocking=True)
        chosen = views.evaluation if self.evaluation else views
        made = chosen(batch, Draw(self.seed, epoch, numbers))
        return [view[0] if single else view for view in made]


def _batch(image: Any) -> tuple[Images, bool]:
    """Return a batch of bytes, and whether it is of a single image."""
    if isinstance(image, Image.Image):
        pixels = np.array(image if image.mode == "RGB" else image.convert("RGB"))
        return torch.from_numpy(pixels).permute(2, 0, 1)[None].contiguous(), True
    if not isinstance(image, Tensor):
        hint = "torch.from_numpy(image).permute(2, 0, 1)" if isinstance(image, np.ndarray) else ""
        raise TypeError(
            f"views: got a {type(image).__name__}, needs a PIL image or a tensor of bytes"
            + (f"; {hint} if its channels are last" if hint else "")
        )
    if image.dtype != torch.uint8:
        raise TypeError(
            f"views: got a tensor of {image.dtype}, needs torch.uint8: views come before ToTensor "
            "and Normalize, which are part of them; (image * 255).round().to(torch.uint8) turns "
            "numbers from 0 to 1 back"
        )
    if image.dim() not in (3, 4):
        raise ValueError(f"views: got {tuple(image.shape)}, needs (c, h, w) or a batch of them")
    return (image, False) if image.dim() == 4 else (image[None], True)


def _numbers(index: int | Index | None, count: int) -> Index:
    """Return the numbers of the samples, or draw some that no other call will have."""
    if index is None:
        return torch.randint(FRESH, (count,))
    numbers = torch.as_tensor(index, dtype=torch.int64).reshape(-1)
    if len(numbers) != count:
        raise ValueError(f"views: got {len(numbers)} sample numbers for {count} images")
    return numbers
