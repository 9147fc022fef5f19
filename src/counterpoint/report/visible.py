"""Views turned back into pictures: normalisation, colour spaces and patches undone."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from counterpoint.parts.views import ColourSpace, Jigsaw, Normalise, Patches, Stage
from counterpoint.parts.views.colour_space import RGB_TO_XYZ, RGB_TO_YCBCR, WHITE, YCBCR_ZERO

GAP = 2  # pixels of paper between patches
NEUTRAL = {"lab": (65.0, 0.0, 0.0), "ycbcr": (140.0, 128.0, 128.0)}
"""What stands for the channels that a view does not have."""


def visible(view: Float[Tensor, "..."], stages: Sequence[Stage], first: int = 0) -> Image.Image:
    """Return one view as a picture; `first` is its first channel, where channels were split."""
    pixels = view.cpu()
    for stage in reversed(stages):
        if isinstance(stage, (Jigsaw, Patches)):
            pixels = _paper(pixels)
        elif isinstance(stage, Normalise):
            pixels = _denormalised(pixels, stage, first)
        elif isinstance(stage, ColourSpace):
            pixels = _coloured(pixels, stage.name, first)
    rgb = pixels[:3].expand(3, -1, -1).clamp(0, 1)
    return Image.fromarray((rgb * 255).round().to(torch.uint8).permute(1, 2, 0).numpy())


def _paper(patches: Float[Tensor, "p p c q q"]) -> Float[Tensor, "c side side"]:
    """Lay patches out side by side, with gaps."""
    count, _, channels, side, _ = patches.shape
    step = side + GAP
    sheet = torch.full((channels, count * step - GAP, count * step - GAP), torch.inf)
    for row in range(count):
        for column in range(count):
            top, left = row * step, column * step
            sheet[:, top : top + side, left : left + side] = patches[row, column]
    return sheet


def _denormalised(pixels: Tensor, stage: Normalise, first: int) -> Tensor:
    channels = slice(first, first + len(pixels))
    std, mean = (torch.tensor(v[channels])[:, None, None] for v in (stage.std, stage.mean))
    return pixels * std + mean


def _coloured(pixels: Tensor, space: str, first: int) -> Tensor:
    """Return red, green and blue; channels that are missing become neutral."""
    whole = torch.tensor(NEUTRAL[space])[:, None, None].repeat(1, *pixels.shape[1:])
    whole[first : first + len(pixels)] = pixels
    return _from_lab(whole) if space == "lab" else _from_ycbcr(whole)


def _from_lab(pixels: Tensor) -> Tensor:
    light, a, b = pixels
    y = (light + 16) / 116
    f = torch.stack([y + a / 500, y, y - b / 200])
    xyz = torch.where(f > 6 / 29, f**3, (f - 16 / 116) / 7.787)
    xyz = xyz * torch.tensor(WHITE)[:, None, None]
    linear = torch.einsum("ij,jhw->ihw", torch.linalg.inv(torch.tensor(RGB_TO_XYZ)), xyz)
    bright = 1.055 * linear.clamp(min=0.0031308) ** (1 / 2.4) - 0.055
    return torch.where(linear > 0.0031308, bright, 12.92 * linear)


def _from_ycbcr(pixels: Tensor) -> Tensor:
    centred = pixels - torch.tensor(YCBCR_ZERO)[:, None, None]
    return torch.einsum("ij,jhw->ihw", torch.linalg.inv(torch.tensor(RGB_TO_YCBCR)), centred)
