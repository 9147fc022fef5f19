"""Random numbers that are a function of (seed, epoch, sample, view, stage), and of nothing else.

So a sample looks the same whatever the batch, the number of workers or of ranks, and after
any restart; nothing has to be saved.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import Draw
from counterpoint.framework.randomness import LOW, philox


def uniform(draw: Draw, *, view: int, stage: int, count: int) -> Float[Tensor, "batch {count}"]:
    """Give `count` numbers in [0, 1) for every sample, as multiples of 2^-24.

    >>> both = uniform(Draw(1, 0, torch.tensor([7, 8])), view=0, stage=0, count=5)
    >>> alone = uniform(Draw(1, 0, torch.tensor([8])), view=0, stage=0, count=5)
    >>> torch.equal(both[1], alone[0])
    True
    """
    index: Int64[Tensor, "batch 1"] = draw.index[:, None]
    block = torch.arange((count + 3) // 4, device=index.device)[None]
    place = torch.full_like(block, (view << 24) | (stage << 16)) | block
    low, high, epoch, place = torch.broadcast_tensors(
        index & LOW, (index >> 32) & LOW, torch.full_like(block, draw.epoch), place
    )
    words = philox((low, high, epoch, place), (draw.seed & LOW, (draw.seed >> 32) & LOW))
    numbers = torch.stack(words, dim=-1).flatten(1)[:, :count]
    return (numbers >> 8).to(torch.float32) * 2.0**-24
