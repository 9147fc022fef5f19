"""From pairs of duplicates to groups, and to which picture of a group is kept."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.doctor.duplicates import connected


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Which images are linked by pairs, and for which another is kept."""

    group: Int64[Tensor, " image"]
    """The smallest number in an image's group; -1 for one that is alone."""
    kept: Int64[Tensor, " image"]
    """The image that is kept instead of this one; -1 where it is kept itself."""

    def with_copies(self, first: Int64[Tensor, " image"]) -> "Groups":
        """Leave out equal files of what is left out; `first` is the first of each image's copies.

        Pairs are found among first copies only. What is near to one of them is near to all.

        >>> found = Groups(torch.tensor([0, 0, 0]), torch.tensor([-1, 0, -1]))
        >>> found.with_copies(torch.tensor([0, 1, 1])).kept.tolist()
        [-1, 0, 0]
        """
        through = self.kept[first]
        copy = first != torch.arange(len(first))
        return replace(self, kept=torch.where(copy & (through >= 0), through, self.kept))


def linked_groups(
    count: int, pairs: Int64[Tensor, "pair 2"], rank: Int64[Tensor, " image"]
) -> Groups:
    """Link images by pairs, and keep the best of them; a lower rank is better.

    Groups are the connected parts. Within one, images are looked at from the best to the worst:
    one that has a pair with an image kept before is left out for it, any other is kept. So
    whatever is left out has a direct duplicate that stays, however long the chain of pairs is.

    >>> found = linked_groups(4, torch.tensor([[0, 1], [1, 2]]), torch.tensor([0, 1, 2, 3]))
    >>> found.group.tolist(), found.kept.tolist()
    ([0, 0, 0, -1], [-1, 0, -1, -1])
    """
    group = torch.from_numpy(connected(count, pairs.numpy().copy()))
    alone = torch.ones(count, dtype=torch.bool)
    alone[pairs.flatten()] = False
    group = group.masked_fill(alone, -1)
    return Groups(group, _kept(count, pairs, rank))


def _kept(
    count: int, pairs: Int64[Tensor, "pair 2"], rank: Int64[Tensor, " image"]
) -> Int64[Tensor, " image"]:
    """Go through the pairs by the better image, then by the worse one."""
    ranks = rank[pairs].sort(dim=1)
    both = pairs.gather(1, ranks.indices)
    order = np.lexsort((ranks.values[:, 0].numpy(), ranks.values[:, 1].numpy()))
    kept = [-1] * count
    for better, worse in both[torch.from_numpy(order)].tolist():
        if kept[better] < 0 and kept[worse] < 0:
            kept[worse] = better
    return torch.tensor(kept)


def preference(
    pixels: Int64[Tensor, " image"],
    size: Int64[Tensor, " image"],
    held_out: Int64[Tensor, " image"],
) -> Int64[Tensor, " image"]:
    """Rank images: held-out splits first, then more pixels, then more bytes, then as they stand.

    An image of the test split is kept whatever its size: leaving its copy out of training costs
    nothing, and the test split stays what others have measured on.

    >>> none = torch.zeros(3, dtype=torch.int64)
    >>> preference(torch.tensor([4, 9, 4]), torch.tensor([7, 1, 8]), none).tolist()
    [2, 0, 1]
    """
    order = np.lexsort((-size.numpy(), -pixels.numpy(), -held_out.numpy()))
    ranks = torch.empty(len(pixels), dtype=torch.int64)
    ranks[torch.from_numpy(order)] = torch.arange(len(pixels))
    return ranks
