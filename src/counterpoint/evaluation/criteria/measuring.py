"""All criteria of one trained model, on images and views that are the same for every method."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from jaxtyping import UInt8
from torch import Tensor

from counterpoint.data import Source, image_shape
from counterpoint.evaluation.criteria.cluster_learnability import cluster_learnability
from counterpoint.evaluation.criteria.rotation import (
    TURNS,
    quarter_turns,
    rotation_folds,
    rotation_probe,
)
from counterpoint.evaluation.health.lidar import lidar
from counterpoint.evaluation.health.spectrum import alpha_req, rankme
from counterpoint.evaluation.health.verdict import ONE_POINT
from counterpoint.evaluation.representation import Representation, ViewsAndEncoder
from counterpoint.framework.model import views_of_batch
from counterpoint.framework.permutation import drawn
from counterpoint.framework.records import Draw
from counterpoint.parts.views import CentreCrop, Normalise, Pipeline, Resize
from counterpoint.parts.views.pipelines import simclr_views
from counterpoint.spelling import did_you_mean

CRITERIA = ("rankme", "lidar", "alpha", "rotation", "rotation-folds", "learnability")
"""Names of the criteria that are measured here."""
# Our choice: 7,000 images to embed, of which 4,000 are for the rotation probe in folds. LiDAR takes
# more images rather than more views, since its rank is below their number. docs/studies.md says
# what that costs.
PLAIN = 1000  # images as they are
TURNED = 250  # images that are turned four times
IN_FOLDS = 1000  # the same, for the rotation probe in folds
SEVERAL, VIEWS = 250, 4  # images that LiDAR sees, in so many views each
TOGETHER = 50  # images of which views are made at once: 120 MB at 224 pixels

Pixels = UInt8[Tensor, "_ channel side side"]


def measured(
    model: ViewsAndEncoder, source: Source, names: Sequence[str], *, side: int, seed: int = 0
) -> dict[str, float]:
    """Return the criteria of a model by name, and whether it `collapsed`.

    All are taken from the pooled output of the encoder in evaluation mode. RankMe, alpha-ReQ and
    learnability see up to 1,000 images as they are, the rotation probe 250 in four turns, or 1,000
    in folds, LiDAR 250 in four of SimCLR's views. `seed` draws the images and the views, and `side`
    is the side of both: never the views of the method itself, so that models are compared on the
    same pixels.
    A model whose vectors all point one way, or are not finite, has `collapsed` 1 and nan for every
    criterion.

    >>> from counterpoint import as_source, simclr_small
    >>> images = as_source(torch.randint(256, (100, 3, 16, 16), dtype=torch.uint8))
    >>> model = simclr_small().build(image=(3, 16, 16))
    >>> sorted(measured(model, images, ["rankme", "alpha"], side=16))
    ['alpha', 'collapsed', 'rankme']
    """
    known_criteria(names)
    order = drawn(len(source), PLAIN, seed=seed)
    represent = Representation(model)
    found = represent.readable(source.subset("plain", order))
    plain, readable = found.vectors, order[found.index]
    rank = float(rankme(plain))
    if not rank >= ONE_POINT:  # nan is not either
        return dict.fromkeys(names, math.nan) | {"collapsed": 1.0}

    def upright(most: int) -> Pixels:
        some = source.subset("turned", readable[:most])
        return pixels(some, whole(side), side=side, seed=seed)

    def rotation_in_folds() -> float:
        images = upright(IN_FOLDS)  # 150 MB at 224 pixels: all turns at once would be 600 more
        turns = [represent(images.rot90(turn, dims=(2, 3))) for turn in range(TURNS)]
        return rotation_folds(torch.cat(turns))

    def several_views() -> float:
        some = source.subset("several", readable[:SEVERAL])
        views = pixels(some, several(side), side=side, seed=seed)
        return float(lidar(represent(views), torch.arange(len(some)).repeat(VIEWS)))

    measures: dict[str, Callable[[], float]] = {
        "rankme": lambda: rank,
        "lidar": several_views,
        "alpha": lambda: float(alpha_req(plain)),
        "rotation": lambda: rotation_probe(represent(quarter_turns(upright(TURNED)))),
        "rotation-folds": rotation_in_folds,
        "learnability": lambda: cluster_learnability(plain, seed=seed),
    }
    return {name: measures[name]() for name in names} | {"collapsed": 0.0}


def goodness(name: str, value: float) -> float:
    """Return a criterion so that more is better, for ranks.

    The eigenvalues of good encoders decay with an exponent near 1 (Agrawal et al. 2022): of alpha
    it is - |alpha - 1|. The others are good as they are.

    >>> goodness("rankme", 40.0), goodness("alpha", 1.5), goodness("alpha", 0.75)
    (40.0, -0.5, -0.25)
    """
    return -abs(value - 1) if name == "alpha" else value


def known_criteria(names: Sequence[str]) -> None:
    """Refuse a name that is not in `CRITERIA`."""
    if unknown := sorted(set(names) - set(CRITERIA)):
        near = did_you_mean(unknown[0], CRITERIA)
        there = f"there are {', '.join(CRITERIA)}"
        raise ValueError(f"evaluation: no criterion {unknown[0]!r}; {there}; {near}".rstrip("; "))


def whole(side: int) -> Pipeline:
    """Return the pipeline that shows an image as it is, in a square."""
    return Pipeline((Resize(side), CentreCrop(side)), views=1)


def several(side: int) -> Pipeline:
    """Return SimCLR's pipeline for a side, whatever the method, and as pixels."""
    views = simclr_views(side)
    stages = tuple(stage for stage in views.stages if not isinstance(stage, Normalise))
    return replace(views, stages=stages, views=VIEWS)


def pixels(source: Source, pipeline: Pipeline, *, side: int, seed: int) -> Pixels:
    """Return the views of images as bytes, the first view of all, then the second.

    The encoder is given them as any other image, and sees them by its own evaluation view.
    """
    views = pipeline.build(image_shape(source, size=side))
    made = []
    for part in torch.arange(len(source)).split(TOGETHER):
        draw = Draw(seed, 0, part)
        drawn = torch.stack(views_of_batch(views, source.read(views.cut, draw).images, draw))
        made.append(drawn.mul(255).round().clamp(0, 255).to(torch.uint8))
    return torch.cat(made, dim=1).flatten(0, 1)
