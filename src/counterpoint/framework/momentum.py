"""The EMA twin of a module: MoCo's key encoder, BYOL's target."""

import copy
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from counterpoint.framework.local_rows import local_rows
from counterpoint.framework.optional import Twinned


class Momentum(nn.Module):
    """A module and the slow twin that follows it.

    After each optimiser step, twin <- decay * twin + (1 - decay) * online for weights; buffers
    (batch-norm statistics, counters) are copied. Encoders and heads can both be wrapped.

    >>> pair = Momentum(nn.Linear(1, 1, bias=False), decay=0.9)
    >>> with torch.no_grad():
    ...     _ = pair.twin.weight.fill_(0.0), pair.online.weight.fill_(1.0)
    >>> pair.step()
    >>> round(pair.twin.weight.item(), 6)
    0.1
    """

    def __init__(self, online: nn.Module, *, decay: float, rises: bool = False) -> None:
        super().__init__()
        self.rises = rises
        self.online = online
        self.twin = copy.deepcopy(online).requires_grad_(requires_grad=False)
        self.decay = decay

    def forward(self, *inputs: Any) -> Any:
        """Run the online module."""
        return self.online(*inputs)

    @torch.no_grad()
    def target(self, *inputs: Any) -> Any:
        """Run the twin; no gradient flows into it or out of it."""
        return self.twin(*inputs)

    def restart(self) -> None:
        """Make the twin equal to the online module, which was given other weights."""
        self.twin.load_state_dict(self.online.state_dict())

    def follow(self, progress: float) -> float:
        """Return one minus the decay at this share of the run."""
        follow = 1 - self.decay
        if self.rises:  # Grill et al. 2020, section 3.2: the decay rises to 1 by a cosine
            follow *= (math.cos(math.pi * progress) + 1) / 2
        return follow

    @torch.no_grad()
    def step(self, progress: float = 0.0) -> None:
        """Let the twin follow by one step; `progress` is the share of all steps done."""
        follow = self.follow(progress)
        # Of a sharded pair each rank has the same rows of both.
        slow, fast = local_rows(self.twin.parameters()), local_rows(self.online.parameters())
        torch._foreach_lerp_(slow, fast, follow)
        for kept, seen in zip(self.twin.buffers(), self.online.buffers(), strict=True):
            kept.copy_(seen)


def twins(module: nn.Module) -> Iterator[Twinned]:
    """Find every twin inside a module; the shell steps them after the optimiser.

    >>> pair = Momentum(nn.Linear(2, 2), decay=0.9)
    >>> [twin is pair for twin in twins(nn.Sequential(nn.Linear(2, 2), pair))]
    [True]
    """
    return (child for child in module.modules() if isinstance(child, Twinned))


def compiled(encoder: nn.Module) -> None:
    """Compile an encoder in place; of a pair both networks, since each is called by itself."""
    for module in _called(encoder):
        module.compile()


def uncompiled(encoder: nn.Module) -> None:
    """Take back what `compiled` did, for whoever compiles block by block."""
    for module in _called(encoder):
        module._compiled_call_impl = None


def _called(encoder: nn.Module) -> tuple[nn.Module, ...]:
    return (encoder.online, encoder.twin) if isinstance(encoder, Momentum) else (encoder,)
