"""Random numbers that are a function of (seed, epoch, sample, view, stage), and of nothing else.

So a sample looks the same whatever the batch, the number of workers or of ranks, and after
any restart; nothing has to be saved.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import Draw
from counterpoint.framework.randomness import LOW, philox


def uniform(
    draw: Draw, *, views: Sequence[int], counts: Sequence[int], shared: int = 0
) -> tuple[Float[Tensor, "row _"], ...]:
    """Give counts[n] numbers in [0, 1) to stage n, for every view of every sample.

    Rows are the samples of the first view, then those of the second, and so on. The first
    `shared` stages give all views of a sample the same numbers. Numbers are multiples of 2^-24.

    >>> both, _ = uniform(Draw(1, 0, torch.tensor([7, 8])), views=(0, 1), counts=(5, 2))
    >>> both.shape
    torch.Size([4, 5])
    >>> alone, _ = uniform(Draw(1, 0, torch.tensor([8])), views=(1,), counts=(5, 2))
    >>> torch.equal(both[3], alone[0])
    True
    """
    device = draw.index.device
    blocks = [(count + 3) // 4 for count in counts]
    index, place = _places(draw, views, blocks, shared)
    low, high, epoch, place = torch.broadcast_tensors(
        index & LOW, (index >> 32) & LOW, torch.tensor(draw.epoch, device=device), place
    )
    words = philox((low, high, epoch, place), (draw.seed & LOW, (draw.seed >> 32) & LOW))
    numbers = (torch.stack(words, dim=-1) >> 8).to(torch.float32) * 2.0**-24
    stages = numbers.flatten(0, 1).split(blocks, dim=1)
    return tuple(s.flatten(1)[:, :count] for s, count in zip(stages, counts, strict=True))


def _places(
    draw: Draw, views: Sequence[int], blocks: Sequence[int], shared: int
) -> tuple[Tensor, Tensor]:
    """Give the sample numbers (1, b, 1) and the places (view, 1, block) in Philox' counter."""
    own = [
        ((stage << 16) | block, int(stage >= shared))
        for stage, count in enumerate(blocks)
        for block in range(count)
    ]
    where = torch.tensor(own, dtype=torch.int64, device=draw.index.device).reshape(-1, 2)
    view = torch.tensor(views, device=draw.index.device)[:, None, None]
    return draw.index[None, :, None], (view * where[:, 1] << 24) | where[:, 0]
