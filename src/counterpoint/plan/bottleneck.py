"""What limits a plan, in a sentence."""

from counterpoint.plan.forecast import ROOM, Forecast

DAYS = 30  # longer runs are told how many epochs fit
CORES = 16  # of a node for each of its GPUs; more are seldom there


def bottleneck(plan: Forecast) -> str:
    """Say what a run would gain most from, or why it does not run."""
    if not plan.fits:
        return _too_large(plan)
    parts = plan.parts.values()
    seconds = {
        "arithmetic": sum(part.arithmetic for part in parts),
        "traffic": sum(part.traffic for part in parts),
        "starts": sum(part.starts for part in parts),
        "network": sum(plan.waits.values()),
    }
    most = max(seconds, key=lambda name: seconds[name])
    share = f"{100 * seconds[most] / plan.step_seconds:.0f} % of a step"
    return _SENTENCES[most](plan, share) + _data(plan) + _long(plan)


def _too_large(plan: Forecast) -> str:
    needed, there = sum(plan.memory.values()) / 1e9, ROOM * plan.machine.memory / 1e9
    largest = max(plan.memory, key=lambda part: plan.memory[part])
    do = {
        "activations": "--accumulate, a smaller --batch-size, bf16-mixed or more GPUs",
        "views": "--accumulate, a smaller --batch-size or more GPUs",
        "candidates of others": "--slice-megabytes",
    }.get(largest, "--strategy fsdp2" if plan.strategy == "ddp" else "more GPUs")
    return (
        f"It does not fit: {needed:.0f} GB of the {there:.0f} that may be used, most of it "
        f"{largest}; take {do}."
    )


def _arithmetic(plan: Forecast, share: str) -> str:
    faster = "" if plan.workload.half else "; --precision bf16-mixed is faster"
    return f"Arithmetic is the limit, {share}{faster}."


def _traffic(plan: Forecast, share: str) -> str:
    less = "" if plan.workload.half else "; --precision bf16-mixed halves it"
    return f"The memory of the GPU is the limit: its bytes take {share}{less}."


def _starts(_: Forecast, share: str) -> str:
    return f"Operators are too small: starting them takes {share}; more images a GPU, or --compile."


def _network(plan: Forecast, share: str) -> str:
    most = max(plan.waits, key=lambda what: plan.waits[what])
    return f"The network is the limit: GPUs wait {share} for it, mostly for {most}."


_SENTENCES = {
    "arithmetic": _arithmetic,
    "traffic": _traffic,
    "starts": _starts,
    "network": _network,
}


def _long(plan: Forecast) -> str:
    """Name the epochs that a month has room for, where the recipe's take longer."""
    days, epochs = plan.seconds / 86400, plan.workload.training.epochs
    if days <= DAYS or epochs == 1:
        return ""
    fewer = max(1, int(epochs * DAYS / days))
    short = days * fewer / epochs
    return f" {epochs:,} epochs take {days:,.0f} days; --epochs {fewer} takes {short:,.0f}."


def _data(plan: Forecast) -> str:
    if plan.cores <= CORES:
        return ""
    return f" Reading may be: {plan.cores:.0f} cores a GPU would have to decode images."
