"""How the signs of health are measured: one look at a model with a fixed set of images."""

import math
from typing import Any

import torch
from torch import Tensor

from counterpoint.data import Source
from counterpoint.evaluation.health.lidar import lidar
from counterpoint.evaluation.health.signs import Signs
from counterpoint.evaluation.health.snapshot import (
    as_pair,
    plain_views_of,
    pooled_views,
    scores_of,
    untouched,
    views_of,
)
from counterpoint.evaluation.health.spectrum import alpha_req, rankme
from counterpoint.evaluation.health.sphere import alignment, deviation, uniformity
from counterpoint.evaluation.health.task_scores import answers, limit_of
from counterpoint.framework import Draw, Model, Scores
from counterpoint.framework.records import Index, View

TOGETHER = 256  # images that are compared with each other, as in a usual batch
PIXELS = TOGETHER * 64 * 64  # of a view, together: larger images are fewer, to save memory


def take_look(model: Model, source: Source, index: Index, *, seed: int = 0) -> Signs:
    """Look at a model with a fixed set of images; the model stays as it was, bit for bit.

    `index` are the samples of the source that are looked at. The same seed gives the same views
    at every look.

    >>> from counterpoint import as_source, simclr_small
    >>> images = as_source(torch.randint(256, (16, 3, 16, 16), dtype=torch.uint8))
    >>> signs = take_look(simclr_small().build(image=(3, 16, 16)), images, torch.arange(16))
    >>> signs.images, signs.width
    (16, 256)
    """
    firsts, seconds, seen = [], [], dict[str, Any]()
    with untouched(model):
        for place in torch.arange(len(index)).split(_together(model)):
            draw = Draw(seed, 0, index[place])
            drawn = views_of(model, source, draw)
            first, second = as_pair(model, drawn, source, draw)
            firsts.append(pooled_views(model, first).cpu())  # float64 follows, which MPS has not
            seconds.append(pooled_views(model, second).cpu())
            seen = seen or {
                **_compared(*scores_of(model, drawn, draw.index)),
                **_pixels(drawn, plain_views_of(model, source, draw)),
            }
        return Signs(**_spread(torch.cat(firsts), torch.cat(seconds), index), **seen)


def _together(model: Model) -> int:
    """Return how many images are looked at together: a batch, or fewer large ones."""
    (*grid, _, height, width), *_ = model.views.shapes
    return max(32, min(TOGETHER, PIXELS // (math.prod(grid) * height * width)))


def _spread(first: Tensor, second: Tensor, index: Index) -> dict[str, Any]:
    """Measure the vectors of the two views."""
    both, who = torch.cat([first, second]), index.repeat(2)
    return {
        "images": len(first),
        "width": first.shape[1],
        "rankme": float(rankme(first)),
        "alpha": float(alpha_req(first)),
        "lidar": float(lidar(both, who)),
        "alignment": float(alignment(first, second)),
        "uniformity": float(uniformity(first)),
        "deviation": float(deviation(first)),
    }


def _compared(found: tuple[Scores, ...], loss: Tensor) -> dict[str, Any]:
    """Measure the scores of all comparisons, and the vectors of the first."""
    vectors, limit = found[0].anchors.cpu(), limit_of(found[0])
    every = [answers(scores, limit=limit) for scores in found]  # one table at a time
    return {
        "top1": float(torch.stack([one.top1 for one in every]).mean()),
        "chance": float(torch.stack([one.chance for one in every]).mean()),
        "surprise": float(torch.stack([one.surprise for one in every]).mean()),
        "positive": tuple(torch.stack([one.positive for one in every]).sum(dim=0).tolist()),
        "negative": tuple(torch.stack([one.negative for one in every]).sum(dim=0).tolist()),
        "limit": limit,
        "bounded": found[0].bound is not None,
        "loss": float(loss),
        "compared_rank": float(rankme(vectors)),
        "compared_width": vectors.shape[1],
        "compared_deviation": float(deviation(vectors)),
    }


def _pixels(drawn: tuple[View, ...], plain: tuple[View, ...]) -> dict[str, float]:
    """Measure what there is to see before anything is learned.

    `drawn` are the views of training, `plain` those of evaluation, without chance.
    """
    first, *rest = drawn
    apart, seen = math.nan, plain[0]
    if rest and rest[0].shape == first.shape:
        apart = float((first - rest[0]).square().mean().sqrt() / _over_images(first))
    inside = [d for d in range(1, seen.dim()) if d != seen.dim() - 3]  # all but the channels
    texture = seen.std(dim=inside, correction=0).square().mean().sqrt()
    return {
        "images_apart": float(_over_images(seen)),
        "texture": float(texture),
        "views_apart": apart,
    }


def _over_images(view: View) -> Tensor:
    """Return the root mean square deviation of a pixel over images."""
    return view.std(dim=0, correction=0).square().mean().sqrt()
