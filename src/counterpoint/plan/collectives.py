"""What the ranks exchange in a step, as collectives with their bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from counterpoint.framework.wire import Exchange
from counterpoint.plan.networks import Network, wire_seconds
from counterpoint.training.step_count import StepCount

Strategy = Literal["ddp", "fsdp2"]
Operation = Literal["all_reduce", "all_gather", "reduce_scatter"]

FLOAT = 4
BUCKET = 25 << 20  # bytes that DDP sums at once: torch's bucket_cap_mb


@dataclass(frozen=True, slots=True)
class Collective:
    """One kind of exchange of a step."""

    what: str
    operation: Operation
    size: float
    """Bytes of the whole tensor, all ranks together: what is summed, gathered or scattered."""
    times: int = 1
    """Calls that these bytes are divided over."""
    behind: Literal["", "forward", "loss", "backward"] = ""
    """The part of the step that it can hide behind."""
    once: bool = False
    """Whether it is made once for an update, and not for each part that the batch comes in."""

    def received(self, ranks: int) -> float:
        r"""Return the bytes that a rank receives, and sends: $(W - 1) / W$ of all, twice for a sum.

        >>> Collective("gradient", "all_reduce", 100.0).received(4)
        150.0
        """
        once = self.size * (ranks - 1) / ranks
        return 2 * once if self.operation == "all_reduce" else once

    def seconds(self, *, ranks: int, link: float, node: int, network: Network) -> float:
        """Return the seconds of all calls, one after the other."""
        each = self.received(ranks) / self.times
        return self.times * wire_seconds(each, ranks=ranks, link=link, node=node, network=network)


def collectives_of(
    step: StepCount,
    exchanges: Sequence[Exchange],
    *,
    strategy: Strategy = "ddp",
    sync: bool = True,
) -> tuple[Collective, ...]:
    """List what the ranks exchange for one part of a batch, and what `once` for an update.

    The gradient is summed by DDP, once for an update, or scattered by FSDP2, which gathers the
    weights twice.
    Candidates travel as `exchanges` say (`exchanges_of`). Batch norm gathers mean, spread and count
    of each channel, and sums two gradients. Every rank says in five integers whether it wants to
    stop.
    """
    if step.ranks == 1:
        return ()
    weights = FLOAT * step.trained
    found: list[Collective] = []
    if strategy == "ddp":
        calls = max(1, -(-weights // BUCKET))
        found.append(Collective("gradient", "all_reduce", weights, calls, "backward", once=True))
    else:
        blocks = max(1, len(step.blocks))
        every = FLOAT * (step.trained + step.twin)
        found += [
            Collective("weights", "all_gather", every, blocks, "forward"),
            Collective("weights again", "all_gather", weights, blocks, "backward"),
            Collective("gradient", "reduce_scatter", weights, blocks, "backward"),
        ]
    found += candidate_collectives(exchanges, step.ranks)
    if sync and step.norms:
        channels, calls = sum(step.norms), len(step.norms)
        size = FLOAT * (2 * channels + calls) * step.ranks
        found.append(Collective("batch statistics", "all_gather", size, calls))
        found.append(Collective("their gradient sums", "all_reduce", FLOAT * 2 * channels, calls))
    found.append(Collective("decisions", "all_reduce", 5 * 8, once=True))
    return tuple(found)


def candidate_collectives(exchanges: Sequence[Exchange], ranks: int) -> list[Collective]:
    """Return how candidates, and what a queue or a bank learns of other ranks, travel.

    What comes in slices is gathered again by the backward pass, and hides behind the loss.

    >>> found = candidate_collectives([Exchange(256, 128, gradient=True, slices=16)], 1024)
    >>> sum(one.received(1024) for one in found) / 1e6
    402.259968
    """
    hidden: Literal["", "loss"] = "loss" if any(e.slices > 1 for e in exchanges) else ""
    rounds: list[tuple[str, Operation, list[tuple[Exchange, int]]]] = [
        ("candidates", "all_gather", [(e, e.gathers() - (e.slices > 1)) for e in exchanges]),
        ("own rows of a bank", "reduce_scatter", [(e, 1) for e in exchanges if e.scattered]),
        ("candidates again", "all_gather", [(e, 1) for e in exchanges if e.slices > 1]),
        ("their gradient", "reduce_scatter", [(e, 1) for e in exchanges if e.gradient]),
    ]
    found = []
    for what, operation, some in rounds:
        size = sum(times * ranks * e.given * e.width * e.itemsize for e, times in some)
        calls = sum(times * e.slices for e, times in some)
        if size:
            found.append(Collective(what, operation, size, calls, hidden))
    return found
