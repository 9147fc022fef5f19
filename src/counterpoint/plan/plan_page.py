"""A plan as a page of 80 columns."""

from collections.abc import Iterable, Sequence

from counterpoint.plan.bottleneck import bottleneck
from counterpoint.plan.equal_nodes import equal_nodes
from counterpoint.plan.forecast import Forecast
from counterpoint.plan.goodput import FAILURES

WIDE = 80


def plan_page(plan: Forecast, *, price: float | None = None) -> list[str]:
    """Return the lines of a plan: what it costs first, then where it goes."""
    load, training = plan.workload, plan.workload.training
    nodes, _ = equal_nodes(plan.gpus, plan.machine.node)
    where = f" in {nodes:,} nodes, {plan.network.name}" if nodes > 1 else ""
    lines = [
        f"{load.name}, {load.images:,} images of {load.image[-1]} px, {training.epochs:,} epochs, "
        f"batch {training.batch:,}",
        f"{plan.gpus:,} x {plan.machine.name}{where}; {plan.strategy}, {training.precision}",
        "",
        *_rows("The run", _run(plan, price)),
        *_rows("A step", _step(plan)),
        *_rows("Memory of a GPU", _memory(plan)),
    ]
    if plan.gpus > 1:
        lines += _rows("On the wire, received by a GPU in a step", _wire(plan))
    lines += _rows("Checkpoints and failures", _failures(plan))
    lines += _rows("Data", _data(plan))
    return [*(line for long in lines for line in _folded(long)), *_folded(bottleneck(plan))]


def comparison(
    plans: Sequence[Forecast], names: Sequence[str], *, price: float | None
) -> list[str]:
    """Return the lines of a table with a column for each plan."""
    rows: list[tuple[str, list[str]]] = [
        ("", list(names)),
        ("GPU memory, GB", [f"{sum(p.memory.values()) / 1e9:.1f}" for p in plans]),
        ("fits", ["yes" if p.fits else "no" for p in plans]),
        ("step, ms", [f"{1e3 * p.step_seconds:,.1f}" for p in plans]),
        ("of it network, ms", [f"{1e3 * sum(p.waits.values()):,.1f}" for p in plans]),
        ("MB on the wire", [f"{p.received / 1e6:,.0f}" for p in plans]),
        ("images/s", [f"{p.images_per_second:,.0f}" for p in plans]),
        ("time", [_time(p.seconds) for p in plans]),
        ("GPU-hours", [f"{p.gpu_hours:,.0f}" for p in plans]),
        ("goodput", [f"{100 * p.goodput(FAILURES[-1]):.1f} %" for p in plans]),
    ]
    if price is not None:
        rows.append(("cost", [f"{p.gpu_hours * price:,.0f}" for p in plans]))
    width = min(12, (WIDE - 20) // max(1, len(plans)))
    return [f"{name:<20}" + "".join(f"{cell:>{width}}" for cell in cells) for name, cells in rows]


Row = tuple[str, str, str]
"""A name, a number with its unit, and a remark."""


def _run(plan: Forecast, price: float | None) -> Iterable[Row]:
    load = plan.workload
    each = plan.images_per_second / plan.gpus
    yield (
        "time",
        _time(plan.seconds),
        f"{load.steps:,} updates of {1e3 * plan.step_seconds:,.1f} ms",
    )
    yield "speed", f"{plan.images_per_second:,.0f} images/s", f"{each:,.1f} of each GPU"
    yield "GPU-hours", f"{plan.gpu_hours:,.0f}", "with lost time and checkpoints"
    if price is not None:
        yield "cost", f"{plan.gpu_hours * price:,.0f}", f"at {price:g} for a GPU and hour"


def _step(plan: Forecast) -> Iterable[Row]:
    whole = plan.step_seconds
    for name, taken in plan.parts.items():
        bound = "arithmetic" if taken.arithmetic >= taken.traffic else "memory"
        bound = "starts" if taken.starts > max(taken.arithmetic, taken.traffic) else bound
        yield name, f"{1e3 * taken.total:,.2f} ms", f"{100 * taken.total / whole:.0f} %, {bound}"
    waits = sum(plan.waits.values())
    if plan.gpus > 1:
        yield "waiting for network", f"{1e3 * waits:,.2f} ms", f"{100 * waits / whole:.0f} %"
    tera = plan.flops / 1e12
    yield "operations", f"{tera:,.1f} x 10^12", f"{tera / whole / plan.gpus:,.3g} a GPU and second"


def _memory(plan: Forecast) -> Iterable[Row]:
    for name, size in plan.memory.items():
        sliced = name == "candidates of others" and plan.slices > 1
        yield name, f"{size / 1e9:,.2f} GB", f"in {plan.slices:,} slices" if sliced else ""
    whole = sum(plan.memory.values())
    there = plan.machine.memory
    yield "together", f"{whole / 1e9:,.2f} GB", f"{100 * whole / there:.0f} % of {there / 1e9:.0f}"


def _wire(plan: Forecast) -> Iterable[Row]:
    for one in plan.collectives:
        size = plan.received_of(one)
        waited = f"{one.operation}, waits {1e3 * plan.waits[one.what]:.2f} ms"
        yield one.what, f"{size / 1e6:,.2f} MB", waited


def _failures(plan: Forecast) -> Iterable[Row]:
    interval = f"one every {plan.interval / 60:.1f} min, sqrt(2 d M)"
    yield "checkpoint", f"{plan.checkpoint / 1e9:,.2f} GB", interval
    for rate in FAILURES:
        hours = rate.between(plan.gpus) / 3600
        said = f"{plan.failures(rate):.1f} failures, one every {hours:,.0f} h"
        yield f"goodput, {rate.name}", f"{100 * plan.goodput(rate):.1f} %", said


def _data(plan: Forecast) -> Iterable[Row]:
    size = plan.workload.images * plan.workload.image_bytes
    yield "size", _bytes(size), f"{plan.workload.image_bytes / 1e3:.0f} kB an image"
    each = plan.read / plan.gpus
    yield "read", f"{_bytes(plan.read)}/s", f"{_bytes(each)}/s a GPU, {plan.cores:.1f} cores"


def _rows(title: str, rows: Iterable[Row]) -> list[str]:
    found = [f"  {name:<24}{number:>18}   {remark}".rstrip() for name, number, remark in rows]
    return [title, *found, ""]


def _bytes(size: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size / 1e3:,.1f} kB"


def _time(seconds: float) -> str:
    if seconds >= 2 * 86400:
        return f"{seconds / 86400:,.1f} days"
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"


def _folded(line: str) -> list[str]:
    """Break a line at spaces; what follows is put below it."""
    from textwrap import wrap

    return wrap(line, WIDE, subsequent_indent="  ", drop_whitespace=True) if line else [""]
