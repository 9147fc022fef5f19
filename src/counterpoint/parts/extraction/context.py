"""CPC: predict the vectors of rows below from the context above (section 2.2, part 3)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from counterpoint.framework import Comparison, Encoded, PartError, Samples, World
from counterpoint.framework.precision import at_least_fp32
from counterpoint.framework.records import Index, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context network over a grid of patches, and a predictor W_k for every offset k.

    The anchor is W_k c at row i, the positive the target at row i + k of the same column; all
    other targets of the batch are negatives. The identity is the image and the place.

    >>> from counterpoint.framework import ALONE
    >>> cpc = Context(offsets=(2,), target=4, hidden=8, blocks=1).build((((16, 4, 4),),))
    >>> grid = (torch.randn(2, 16, 4, 4),)  # two images of 4 x 4 patches
    >>> (compared,) = cpc(Encoded((grid,), (grid,)), Samples(torch.arange(2)), ALONE)
    >>> tuple(compared.anchors.shape), tuple(compared.candidates.shape)
    ((16, 4), (32, 4))
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    offsets: tuple[int, ...] = ()
    """Rows ahead; empty takes 2, ..., h - 1 (docs/paper.md, row 12)."""
    target: int = 64  # Henaff et al. 2019, appendix: target_dim
    hidden: int = 256  # Henaff et al. 2019, appendix: the context network
    blocks: int = 5
    scale: float = 0.1  # Henaff et al. 2019, appendix: emb_scale
    relu: Literal["each", "end"] = "each"
    """Where the context network has its ReLU: after each block, or once after the last
    (pytorch-lightning-bolts 0.2, pixel_cnn.py)."""

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "ContextExtraction":
        channels, height, width = maps[0][-1]
        offsets = self.offsets or tuple(range(2, height))
        if height != width or not offsets or not 1 <= min(offsets) <= max(offsets) < height:
            raise PartError(
                "extraction",
                got=f"offsets {offsets} in a map of {height} x {width}",
                needs="a square grid with more rows than the largest offset",
                do="end the views with Patches",
            )
        return ContextExtraction(channels, offsets, self)


class ContextExtraction(nn.Module):
    """Targets, context and predictors."""

    def __init__(self, channels: int, offsets: tuple[int, ...], settings: Context) -> None:
        super().__init__()
        self.offsets, self.scale = offsets, settings.scale
        self.targets = nn.Conv2d(channels, settings.target, 1)
        each = settings.relu == "each"
        blocks = [MaskedBlock(channels, settings.hidden, relu=each) for _ in range(settings.blocks)]
        self.context = nn.Sequential(*blocks, *(() if each else (nn.ReLU(),)))
        self.predict = nn.ModuleList(nn.Conv2d(channels, settings.target, 1) for _ in offsets)

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        side = encoded.online[0][-1].shape[-1]
        place = places(samples.index, side)
        identity = place.flatten()
        everyone = world.everyone(lambda samples: places(samples.index, side).flatten())
        found = []
        for online, target in zip(encoded.online, encoded.target, strict=True):
            targets = at_least_fp32(_rows(self.targets(target[-1])))  # all offsets share them
            context = self.context(online[-1])
            for offset, predict in zip(self.offsets, self.predict, strict=True):
                ahead = predict(context[:, :, :-offset]) * self.scale
                found.append(
                    Comparison(
                        anchors=_rows(ahead),
                        candidates=targets,
                        anchor_identity=place[:, offset:].flatten(),
                        candidate_identity=identity,
                        everyone=everyone,
                        weight=1 / len(encoded.online),
                    )
                )
        return tuple(found)


class MaskedBlock(nn.Module):
    """A residual block that looks left, right and up, never down (Henaff et al. 2019)."""

    def __init__(self, channels: int, hidden: int, *, relu: bool) -> None:
        super().__init__()
        self.relu = relu
        self.narrow = nn.Conv2d(channels, hidden, 1)
        self.across = nn.Conv2d(hidden, hidden, (1, 3), padding=(0, 1))
        self.down = nn.Conv2d(hidden, hidden, (2, 1))
        self.widen = nn.Conv2d(hidden, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.across(F.relu(self.narrow(x)))
        y = self.down(F.pad(y, (0, 0, 1, 0)))  # a row of zeros above: row i sees i - 1 and i
        x = x + self.widen(F.relu(y))
        return F.relu(x) if self.relu else x


def places(index: Index, side: int) -> Tensor:
    """Number every place of every image, (b, side, side).

    >>> places(torch.tensor([0, 2]), 2)[1]
    tensor([[ 8,  9],
            [10, 11]])
    """
    place = torch.arange(side * side, device=index.device).view(side, side)
    return index[:, None, None] * (side * side) + place


def _rows(features: Tensor) -> Tensor:
    """List the vectors of a map, image by image, row by row."""
    return features.permute(0, 2, 3, 1).flatten(0, 2)
