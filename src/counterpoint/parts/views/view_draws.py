"""Random numbers that are a function of (seed, epoch, sample, view, stage), and of nothing else.

So a sample looks the same whatever the batch, the number of workers or of ranks, and after
any restart; nothing has to be saved.
"""

from collections.abc import Sequence
from itertools import accumulate

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import Draw
from counterpoint.framework.constants import constant
from counterpoint.framework.philox import LOW, philox


def uniform_draws(
    draw: Draw, *, views: Sequence[int], counts: Sequence[int], shared: int = 0
) -> tuple[Float[Tensor, "row _"], ...]:
    """Return counts[n] numbers in [0, 1) for stage n, for every view of every sample.

    Rows are the samples of the first view, then those of the second, and so on. The first
    `shared` stages give all views of a sample the same numbers. Numbers are multiples of 2^-24.

    >>> both, _ = uniform_draws(Draw(1, 0, torch.tensor([7, 8])), views=(0, 1), counts=(5, 2))
    >>> both.shape
    torch.Size([4, 5])
    >>> alone, _ = uniform_draws(Draw(1, 0, torch.tensor([8])), views=(1,), counts=(5, 2))
    >>> torch.equal(both[3], alone[0])
    True
    """
    if not any(counts):
        none = torch.empty(len(views) * len(draw.index), 0, device=draw.index.device)
        return (none,) * len(counts)
    blocks = [(count + 3) // 4 for count in counts]
    index = draw.index[None, :, None]
    shape = (len(views), 1, sum(blocks))
    place = constant(_places(views, blocks, shared), torch.int64, index.device, shape=shape)
    counter = (index & LOW, (index >> 32) & LOW, torch.full_like(index, draw.epoch), place)
    words = philox(counter, (draw.seed & LOW, (draw.seed >> 32) & LOW))
    numbers = (torch.stack(words, dim=-1) >> 8).to(torch.float32) * 2.0**-24
    rows = numbers.view(len(views) * len(draw.index), 4 * sum(blocks))
    starts = accumulate(blocks, initial=0)
    return tuple(rows[:, 4 * s : 4 * s + n] for s, n in zip(starts, counts, strict=False))


def _places(views: Sequence[int], blocks: Sequence[int], shared: int) -> tuple[int, ...]:
    """Return the places (view, block) in Philox' counter."""
    return tuple(
        ((view << 24) if stage >= shared else 0) | (stage << 16) | block
        for view in views
        for stage, count in enumerate(blocks)
        for block in range(count)
    )
