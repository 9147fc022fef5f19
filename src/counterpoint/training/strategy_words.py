"""What each rank holds of the model, and why, for the table at the start of a run."""

from dataclasses import replace

from counterpoint.framework import Model
from counterpoint.framework.settings import Training
from counterpoint.training.cost import memory_of, memory_there

ROOM = 0.5
"""Share of a device that the weights and what belongs to them may take; the rest is activations."""


def strategy_words(model: Model, training: Training, *, ranks: int) -> str:
    """Say how the model is shared out over the ranks, and why; nothing for a process alone."""
    again = ", blocks computed again in the backward pass" * training.checkpoint_activations
    if ranks == 1:
        alone = "one process: nothing to share out" * (training.strategy == "fsdp2")
        return (alone + again).removeprefix(", ")
    whole, part = (
        memory_of(model, replace(training, strategy=strategy), ranks=ranks).weights
        for strategy in ("ddp", "fsdp2")
    )
    both = f"{_gigabytes(part)} in place of {_gigabytes(whole)}"
    if training.strategy == "fsdp2":
        said = f"fsdp2: a rank holds 1/{ranks:,} of weights, gradient and optimiser, {both}"
        return said + again
    needs = f"ddp: each rank holds weights, gradient and optimiser, {_gigabytes(whole)}"
    if whole <= ROOM * memory_there():
        return f"{needs}, which fit{again}"
    return f"[bold red]{needs}, too much: --strategy fsdp2 takes {both}[/]{again}"


def _gigabytes(number: int) -> str:
    return f"{number / 2**30:.2f} GiB"
