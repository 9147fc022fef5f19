"""The rotation probe: how well a linear layer tells which way up an image is."""

from math import nan

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from counterpoint.evaluation.linear import fit_logistic, logits
from counterpoint.evaluation.probe import Standardise

TURNS = 4
PENALTY = 1e-3  # our choice, the middle of the linear probe's grid: nothing is tuned here
FOLDS = 5  # our choice: a probe of 1,000 images then learns from 800 of them
FOLDS_PENALTY = 1e-2
"""Chosen on trials of two searches: docs/decisions/0054-the-rotation-probe-in-folds.md."""


def quarter_turns(
    images: UInt8[Tensor, "image channel side side"],
) -> UInt8[Tensor, "turned channel side side"]:
    """Return the images turned by 0, 90, 180 and 270 degrees, one turn after the other.

    >>> image = torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8).expand(1, 3, 2, 2)
    >>> quarter_turns(image)[:, 0].tolist()
    [[[1, 2], [3, 4]], [[2, 4], [1, 3]], [[4, 3], [2, 1]], [[3, 1], [4, 2]]]
    """
    return torch.cat([images.rot90(turn, dims=(2, 3)) for turn in range(TURNS)])


def rotation_probe(vectors: Float[Tensor, "turned feature"]) -> float:
    """Return the accuracy of a linear probe for the turn of an image (Reed et al. 2021).

    `vectors` are those of `quarter_turns`. The probe is fitted on the first half of the images in
    all their turns, and asked about the second half. It says nothing where rotation is among the
    views, or where images have no way up.

    >>> turn, image = torch.arange(4).repeat_interleave(10), torch.randn(40, 6)
    >>> rotation_probe(torch.cat([torch.eye(4)[turn], image], dim=1))
    1.0
    """
    turns: Tensor = vectors.unflatten(0, (TURNS, -1))
    half = turns.shape[1] // 2
    return _right(turns[:, :half], turns[:, half:], PENALTY) / TURNS / (turns.shape[1] - half)


def rotation_folds(vectors: Float[Tensor, "turned feature"], folds: int = FOLDS) -> float:
    """Return the accuracy of rotation probes that together are asked about every image.

    `vectors` are those of `quarter_turns`. The images are dealt into folds. The probe of a fold is
    fitted on all the others and asked about its own, so that both the fit and the figure rest on
    more cases than in `rotation_probe`: with few cases a probe of wide vectors learns noise. It is
    nan for a single image.

    >>> turn, image = torch.arange(4).repeat_interleave(10), torch.randn(40, 6)
    >>> rotation_folds(torch.cat([torch.eye(4)[turn], image], dim=1))
    1.0
    """
    turns: Tensor = vectors.unflatten(0, (TURNS, -1))
    images = turns.shape[1]
    if images < 2:
        return nan
    fold = torch.arange(images, device=vectors.device) % min(folds, images)
    right = (
        _right(turns[:, fold != one], turns[:, fold == one], FOLDS_PENALTY)
        for one in range(min(folds, images))
    )
    return sum(right) / TURNS / images


def _right(
    known: Float[Tensor, "turn image feature"],
    asked: Float[Tensor, "turn other feature"],
    penalty: float,
) -> int:
    """Fit the probe on some images in all their turns, and count its right answers for others."""
    cases = known.flatten(0, 1)
    standardise = Standardise(cases)
    start = cases.new_zeros(TURNS, cases.shape[1] + 1)
    fitted = fit_logistic(standardise(cases), _which(known), start, penalty=penalty)
    answers = logits(standardise(asked.flatten(0, 1)), fitted).argmax(dim=1)
    return int((answers == _which(asked)).sum())


def _which(turns: Float[Tensor, "turn image feature"]) -> Int64[Tensor, " case"]:
    """Return the turn of each case: all images in one turn, then all in the next."""
    return torch.arange(TURNS, device=turns.device).repeat_interleave(turns.shape[1])
