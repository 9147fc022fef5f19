"""What one GPU holds at the peak of a step, by part."""

from collections.abc import Sequence

from counterpoint.framework.wire import Exchange
from counterpoint.plan.collectives import FLOAT, Strategy
from counterpoint.training.step_count import StepCount


def memory_parts(
    step: StepCount,
    alone: StepCount,
    exchanges: Sequence[Exchange] = (),
    *,
    states: int,
    half: bool = False,
    strategy: Strategy = "ddp",
) -> dict[str, float]:
    """Return the bytes of each part.

    `alone` is the same step of a single rank: what the candidates of others add is the
    difference, or what slices hold. FSDP2 divides weights, gradient and states by the ranks, and
    has one block whole; the next is on its way meanwhile. A bank is divided by rows with both.
    """
    others = float(max(0, step.activations - alone.activations))
    if any(e.slices > 1 for e in exchanges):  # those at once all stay, slices come and go
        others = sum(e.held(step.ranks) for e in exchanges if e.slices == 1)
        others += max(e.held(step.ranks) for e in exchanges if e.slices > 1)
    shares = step.ranks if strategy == "fsdp2" else 1
    whole = 2 * FLOAT * max(step.blocks, default=step.trained) if shares > 1 else 0
    parts = {
        "weights": FLOAT * step.trained / shares,
        "twin": FLOAT * step.twin / shares,
        "gradient": FLOAT * step.trained / shares if step.ranks > 1 else 0.0,
        "optimiser": FLOAT * step.trained * states / shares,
        "blocks made whole": float(whole),
        "weights in bf16": 2.0 * (step.trained + step.twin) / shares if half else 0.0,
        "queue, bank, statistics": FLOAT
        * (step.remembered - step.divided + step.divided / step.ranks),
        "views": float(step.views),
        "activations": float(alone.activations),
        "candidates of others": others,
    }
    return {name: size for name, size in parts.items() if size}
