"""Labels that the nearest images contradict."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

TAU = 0.1  # as in the kNN probe
CHUNK = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """What the neighbours of each image say of its label."""

    best: Int64[Tensor, " image"]
    """The label with the most weight; -1 where no neighbour has one."""
    share: Float[Tensor, " image"]
    """Its share of the weight."""
    own: Float[Tensor, " image"]
    """The share of the image's own label."""

    @property
    def doubt(self) -> Float[Tensor, " image"]:
        """How much more weight another label has: above 0 for a suspect label, 1 at most."""
        return self.share - self.own


def label_verdicts(
    labels: Int64[Tensor, " image"],
    index: Int64[Tensor, "image near"],
    cosine: Float[Tensor, "image near"],
    voters: Int64[Tensor, " image"],
) -> Verdicts:
    r"""Let the k nearest others vote, each with weight $e^{\cos / \tau}$; an image does not vote.

    Only images with `voters` 1 and a label vote: a copy that is left out carries the same mistake.

    >>> near, one = torch.tensor([[1, 2], [0, 2], [1, 0]]), torch.ones(3, dtype=torch.int64)
    >>> verdicts = label_verdicts(torch.tensor([5, 7, 7]), near, torch.full((3, 2), 0.9), one)
    >>> verdicts.best.tolist(), verdicts.doubt.tolist()
    ([7, 7, 7], [1.0, 0.0, 0.0])
    """
    parts = [
        _votes(labels, labels[rows], index[rows], cosine[rows], voters)
        for rows in torch.arange(len(labels)).split(CHUNK)
    ]
    best, share, own = (torch.cat(column) for column in zip(*parts, strict=True))
    return Verdicts(best, share, own)


def _votes(
    labels: Int64[Tensor, " image"],
    mine: Int64[Tensor, " some"],
    index: Int64[Tensor, "some near"],
    cosine: Float[Tensor, "some near"],
    voters: Int64[Tensor, " image"],
) -> tuple[Tensor, Tensor, Tensor]:
    said = labels[index.clamp(min=0)]
    votes = (index >= 0) & (said >= 0) & (voters[index.clamp(min=0)] == 1)
    weight = torch.exp((cosine - 1) / TAU).where(votes, torch.zeros_like(cosine))
    weight = weight / weight.sum(dim=1, keepdim=True).clamp(min=1e-30)
    # The weight of each neighbour's label, without a column for every class.
    for_it = (weight[:, None, :] * (said[:, :, None] == said[:, None, :])).sum(dim=2)
    for_it = for_it.where(votes, torch.full_like(for_it, -1.0))
    # Equal weights go to the own label, so that doubt needs more than a tie.
    agreed = for_it + 1e-6 * (said == mine[:, None])
    top = agreed.argmax(dim=1, keepdim=True)
    none = ~votes.any(dim=1)
    best = said.gather(1, top)[:, 0].masked_fill(none, -1)
    share = for_it.gather(1, top)[:, 0].clamp(min=0)
    own = (weight * (said == mine[:, None])).sum(dim=1)
    return best, share, own.where(~none, share)
