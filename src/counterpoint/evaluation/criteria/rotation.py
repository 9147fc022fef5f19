"""The rotation probe: how well a linear layer tells which way up an image is."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from counterpoint.evaluation.linear import fit_logistic, logits
from counterpoint.evaluation.probe import Standardise, share_right

TURNS = 4
PENALTY = 1e-3  # our choice, the middle of the linear probe's grid: nothing is tuned here


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
    turns = vectors.unflatten(0, (TURNS, -1))
    half = turns.shape[1] // 2
    known, asked = turns[:, :half].flatten(0, 1), turns[:, half:].flatten(0, 1)
    standardise = Standardise(known)
    start = known.new_zeros(TURNS, known.shape[1] + 1)
    fitted = fit_logistic(standardise(known), _which(half, known), start, penalty=PENALTY)
    predicted = logits(standardise(asked), fitted).argmax(dim=1)
    return share_right(predicted, _which(turns.shape[1] - half, asked))


def _which(images: int, like: Tensor) -> Tensor:
    """Return the turn of each row: all images in one turn, then all in the next."""
    return torch.arange(TURNS, device=like.device).repeat_interleave(images)
