"""counterpoint study."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from counterpoint.catalogue import STUDIES
from counterpoint.cli.early import refuse_unknown
from counterpoint.cli.last_words import chosen_options, last_words
from counterpoint.cli.resumable import resumable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterpoint.study.dashboard import Progress
    from counterpoint.study.outcome import Outcome
    from counterpoint.study.result_store import ResultStore
    from counterpoint.study.trial import Trial

USUAL = {
    "runner": "local",
    "cpus": 1,
    "gpus": 0.0,
    "retries": 2,
    "figure": "linear",
    "compare": "column",
}
"""Options that the next command does not need."""


def study_command(
    name: str,
    *,
    out: str | None = None,
    scale: Literal["small", "paper"] = "small",
    runner: Literal["local", "ray"] = "local",
    plan: bool = False,
    cpus: int = 1,
    gpus: float = 0.0,
    at_once: int | None = None,
    retries: int = 2,
    address: str | None = None,
    seeds: int | None = None,
    limit: int | None = None,
    images: int | None = None,
    figure: str = "linear",
    compare: Literal["column", "row"] = "column",
    speed: float | None = None,
    price: float | None = None,
) -> None:
    """Run the trials of a study and print its table; a finished trial is never run twice.

    Give the same command again at any time: interrupted trials resume.

    Example:
        counterpoint study table1 --plan

    Args:
        name: table1, table2, table3, parts, family, yadim, or a .py file with a function study()
            that returns trials; such a file is executed.
        out: Folder of the results, local or any that fsspec reaches, such as s3://...
            (default: runs/NAME-SCALE, of a file its name without .py).
        scale: "small" takes hours on two cores, "paper" is the size of the paper; see --plan.
        runner: "local" runs processes on this machine, "ray" runs tasks on a Ray cluster.
        plan: Only print what the study would take: time, memory, operations.
        cpus: Cores of each trial.
        gpus: GPUs of each trial, with --runner ray; fractions are allowed.
        at_once: Trials to run in parallel, with --runner local (default: cores / cpus).
        retries: Number of times a failed trial is run again.
        address: Address of a Ray cluster (default: the one this process is part of).
        seeds: Use only the first N seeds of each cell (default: all).
        limit: Use only the first N images of each split (default: all).
        images: Images seen by each trial (default: the study's own budget).
        figure: Figure to show in the table, if the trials have it: a probe (knn, linear, mlp),
            "linear validation", a criterion such as rankme, or lr.
        compare: Compare the cells of a column, or of a row, with each other.
        speed: Operations per second to plan with, in 10^12 (default: measured here).
        price: Price of one hour of one trial's machine, for --plan (default: none).
    """
    if not name.endswith(".py"):
        refuse_unknown("study", name, STUDIES, more=", or a .py file")
    elif not Path(name).is_file():
        raise FileNotFoundError(f"study: there is no file {name}")
    from counterpoint.study.dashboard import Progress
    from counterpoint.study.load import trials_of
    from counterpoint.study.result_store import ResultStore
    from counterpoint.study.shorten import shortened
    from counterpoint.study.tables.outcome_table import require_figure
    from counterpoint.study.tables.repeats import require_repeats

    if name.endswith(".py"):
        sys.stderr.write(f"counterpoint: running {name}\n")
    trials = shortened(trials_of(name, scale), seeds=seeds, limit=limit, images=images)
    require_repeats(trials)
    if plan:
        _say_plan(trials, speed, price)
        given: dict[str, object] = {"scale": scale, "seeds": seeds, "limit": limit}
        given |= {"images": images, "out": out}
        given |= {"runner": runner, "cpus": cpus, "gpus": gpus, "at-once": at_once}
        given |= {"retries": retries, "address": address, "figure": figure, "compare": compare}
        last_words("", ["counterpoint", "study", name, *chosen_options(given, USUAL)])
        return
    require_figure(trials, figure)
    place = out or f"runs/{Path(name).stem}-{scale}"
    store = ResultStore(place)
    store.plan(trials)
    progress = Progress(figure=figure, at_once=at_once or 1)
    if runner == "ray":
        from counterpoint.study.runners.ray_tasks import run_ray

        outcomes = run_ray(
            trials,
            store,
            cpus=cpus,
            gpus=gpus,
            retries=retries,
            address=address,
            tell=progress.tell,
        )
    else:
        from counterpoint.study.runners.local import run_local

        outcomes = run_local(
            trials, store, cpus=cpus, at_once=at_once, retries=retries, tell=progress.tell
        )
    with resumable():
        _watch(outcomes, progress)
    _say_table(store, figure, compare)
    _say_failed(store, progress)
    shown = chosen_options({"figure": figure, "compare": compare}, USUAL)
    following = ["counterpoint", "table", place, *shown, "--format", "latex"]
    last_words(f"results in {place}", following, aside=True)
    if progress.count("failed"):
        sys.exit(1)


def _watch(outcomes: "Iterator[Outcome]", progress: "Progress") -> None:
    """Show the table of progress until the study ends; without a terminal, a line per trial."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if not console.is_terminal:
        for outcome in outcomes:
            left = progress.left_seconds() or 0.0
            sys.stderr.write(f"{outcome.trial.key}: {outcome.state}, about {left:.0f} s left\n")
        return
    with Live(get_renderable=progress.table, console=console, refresh_per_second=1):
        for _ in outcomes:
            pass


def _say_table(store: "ResultStore", figure: str, compare: Literal["column", "row"]) -> None:
    from counterpoint.study.tables.formats import markdown
    from counterpoint.study.tables.outcome_table import tabulate

    table = tabulate(store.every(), planned=store.planned(), figure=figure, compare=compare)
    sys.stdout.write(markdown(table))


def _say_failed(store: "ResultStore", progress: "Progress") -> None:
    """Say of each trial that failed why, and where the trace of its error is."""
    from counterpoint.study.workplace import LOG

    for event in progress.events.values():
        if event.state == "failed":
            log = store.workplace(event.trial) / LOG
            more = f"; its log: {log}" if log.is_file() else ""  # else on the machine that ran it
            sys.stderr.write(f"{event.trial.key} failed: {event.why}{more}\n")


def _say_plan(trials: "Sequence[Trial]", speed: float | None, price: float | None) -> None:
    from rich.console import Console

    from counterpoint.study.plan_table import plan_table
    from counterpoint.study.trial_plan import machine_speed, plan_trials

    fast = machine_speed() if speed is None else speed * 1e12
    Console().print(plan_table(plan_trials(trials, speed=fast), speed=fast, price=price))
