"""Say which shards a rank reads next, a block ahead of its steps."""

from collections.abc import Iterator

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.order import Order
from counterpoint.data.source import Shards

AHEAD = 1  # blocks of a lane that are expected besides the open one


def announced_shares(order: Order, shards: Shards, *, start: int = 0) -> Iterator[Tensor]:
    """Return this rank's shares, and tell `shards` which come next as the steps are handed out.

    At any time at most two blocks of a lane were announced and are not done with, also where a
    run resumes in the middle of an epoch: blocks before its first step are not told.
    """
    lanes, own, each = order.in_lanes(), order.own_lanes, order.per_lane
    end = lanes.blocks(own, _everywhere(own, len(order) * each - 1)) + 1
    told = lanes.blocks(own, _everywhere(own, min(start, len(order) - 1) * each))
    for step, share in enumerate(order.shares(start=start), start):
        reached = lanes.blocks(own, _everywhere(own, (step + 1) * each - 1))
        until = torch.minimum(reached + 1 + AHEAD, end)
        if bool((until > told).any()):
            shards.expect(_between(order, told, until))
            told = torch.maximum(told, until)
        yield share


def _between(order: Order, told: Tensor, until: Tensor) -> list[int]:
    """List the shards of some blocks of this rank's lanes, the blocks that come sooner first."""
    lanes, own = order.in_lanes(), order.own_lanes
    found: dict[int, None] = {}
    for step in range(int((until - told).max())):
        some = told + step < until
        found |= dict.fromkeys(lanes.open(own[some], (told + step)[some]).read())
    return list(found)


def _everywhere(lanes: Int64[Tensor, " lane"], place: int) -> Int64[Tensor, " lane"]:
    return torch.full_like(lanes, place)
