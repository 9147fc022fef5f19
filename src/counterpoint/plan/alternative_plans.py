"""Plans beside a plan: with another strategy, GPU, batch, number of GPUs or of slices."""

from dataclasses import replace

from counterpoint.plan.collectives import Strategy
from counterpoint.plan.equal_nodes import divide, equal_nodes
from counterpoint.plan.forecast import Forecast
from counterpoint.plan.gpus import GPUS

STRATEGIES: dict[str, Strategy] = {"ddp": "ddp", "fsdp2": "fsdp2"}
TIMES = (0.5, 1, 2, 4)
MEGABYTES = {"at once": 1e9, "256 MB": 256, "64 MB": 64, "16 MB": 16}
"""Of a slice of the candidates."""


def alternative_plans(plan: Forecast, what: str) -> dict[str, Forecast]:
    """Return plans to compare, by what is different in each.

    `what` is `ddp,fsdp2`, names of GPUs or numbers of them, or `batch`, `gpus` or `slices`.
    """
    if what == "batch":
        return {f"{b:,}": _with_batch(plan, b) for b in _scaled(plan.workload.training.batch, plan)}
    if what == "gpus":
        counts = [max(1, round(plan.gpus * times)) for times in TIMES]
        most, node = plan.workload.training.micro_batch, plan.machine.node
        fitting = [n for n in dict.fromkeys(counts) if n <= most and divide(n, node)]
        return {f"{n:,} GPUs": replace(plan, gpus=n) for n in fitting}
    if what == "slices":
        return {name: _with_slices(plan, most) for name, most in MEGABYTES.items()}
    found: dict[str, Forecast] = {}
    for name in what.split(","):
        if name in STRATEGIES:
            found[name] = replace(plan, strategy=STRATEGIES[name])
        elif name.isdecimal() and int(name) > 0:
            equal_nodes(int(name), plan.machine.node)  # refused, as with --gpus
            found[f"{int(name):,} GPU{'' if name == '1' else 's'}"] = replace(plan, gpus=int(name))
        elif name in GPUS:
            found[name] = replace(plan, machine=GPUS[name], view_seconds=None)
        else:
            known = ", ".join([*STRATEGIES, *GPUS, "batch", "gpus", "slices", "1,8,64"])
            raise ValueError(f"compare: got {name!r}; there are {known}")
    return found


def _scaled(batch: int, plan: Forecast) -> list[int]:
    parts = plan.workload.training.accumulate
    counts = [round(batch * times / parts) * parts for times in TIMES]
    least, most = plan.gpus * parts, plan.workload.images
    return [count for count in dict.fromkeys(counts) if least <= count <= most]


def _with_slices(plan: Forecast, megabytes: float) -> Forecast:
    load = plan.workload
    training = replace(load.training, slice_megabytes=megabytes)
    return replace(plan, workload=replace(load, training=training))


def _with_batch(plan: Forecast, batch: int) -> Forecast:
    """Take another batch; the images seen stay as many."""
    load = plan.workload
    training = replace(load.training, batch=batch, lanes=None)
    steps = max(1, round(load.steps * load.training.batch / batch))
    return replace(plan, workload=replace(load, training=training, steps=steps))
