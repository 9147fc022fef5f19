"""The signs of health of a representation: every figure of one look."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What one look at a model found; nan is a figure that could not be had.

    >>> import torch
    >>> from counterpoint import as_source, simclr_small
    >>> from counterpoint.evaluation.health import take_look
    >>> images = as_source(torch.randint(256, (16, 3, 16, 16), dtype=torch.uint8))
    >>> signs = take_look(simclr_small().build(image=(3, 16, 16)), images, torch.arange(16))
    >>> signs.step, signs.width, 1 <= signs.rankme <= 16
    (0, 256, True)
    """

    epoch: int = 0
    """Epochs of training that were finished."""
    step: int = 0
    images: int
    """Images that were looked at."""
    width: int
    """Features of a vector."""
    rankme: float
    alpha: float
    lidar: float
    alignment: float
    uniformity: float
    deviation: float
    compared_rank: float
    """RankMe of the vectors that are compared: behind the heads, where the loss is."""
    compared_width: int
    compared_deviation: float
    top1: float
    """Share of anchors whose best candidate is a positive."""
    chance: float
    """What top-1 is by a guess."""
    surprise: float
    """Cross-entropy of a positive among the negatives; 1 is a guess."""
    loss: float
    """Of the images looked at, in evaluation mode."""
    images_apart: float
    """Deviation of a normalised pixel over images; 0 where all images are the same."""
    texture: float
    """The same inside an image; 0 where every image is one flat colour."""
    views_apart: float
    """Difference of the two views of an image, over the deviation of views over images; 0 where
    the views are the same, nan where they cannot be compared pixel by pixel."""
    limit: float
    """Both histograms have equal bins from -limit to limit."""
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    bounded: bool = True
    """Whether a score has a bound, by tau or a clip; a plain dot product has none."""
    step_loss: float | None = None
    """Of the last step of training, as the optimiser saw it."""
    lr: float | None = None
    gradient_norm: float | None = None
    momentum: float | None = None
    """The decay of the momentum twin, at this step."""
    knn: float | None = None
    """Accuracy of weighted kNN on some labelled training images."""
    linear: float | None = None
    """The same of a linear classifier."""

    def to_dict(self) -> dict[str, object]:
        """Write plain data for JSON, which has no nan: it becomes None."""
        return {key: _plain(value) for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Signs":
        """Read what `to_dict` wrote; keys that are not figures, such as a verdict, are left out."""
        known = {f.name: f for f in fields(cls)}
        return cls(**{key: _read(data[key], known[key]) for key in known if key in data})


def _plain(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read(value: Any, field: "Field[Any]") -> Any:
    if value is None and field.default is MISSING:
        return math.nan
    return tuple(value) if isinstance(value, list) else value
