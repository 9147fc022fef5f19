"""One trial, from its record to its outcome; run once, resumed if interrupted."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from counterpoint.data import Source, Splits
from counterpoint.evaluation import Representation, Result, evaluate
from counterpoint.evaluation.criteria import measured
from counterpoint.framework import Model
from counterpoint.framework.settings import Training
from counterpoint.job import Job
from counterpoint.pretraining import pretrain
from counterpoint.study.budget import Seconds, StepCost
from counterpoint.study.learning_rate import choose_rate
from counterpoint.study.outcome import Cost, Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.settled import Settled, settle, settled_before
from counterpoint.study.step_cost import step_seconds
from counterpoint.study.trial import Trial
from counterpoint.study.trial_job import job_of, labelled_splits, opened
from counterpoint.study.workplace import (
    LOG,
    alone_in,
    counted_in,
    forget_peak,
    logged_to,
    peak_mb,
    spent_in,
)
from counterpoint.training.cost import step_flops
from counterpoint.version import versions

TIMED = 0.02  # of a budget in seconds: how long steps are timed before training


def run_trial(trial: Trial, store: ResultStore, *, cpus: int = 1) -> Outcome:
    """Train and evaluate, and keep the outcome; a trial that was done is read, not run.

    `cpus` threads compute: sums are added in another order by more of them, so that only trials
    of equal `cpus` agree bit for bit.

    >>> from counterpoint.study import Images
    >>> some = Trial(
    ...     method="simclr-small", data=str(photos_folder), budget=Images(8), kind="random",
    ...     training=(("batch", 8),), probes=(), criteria=("rankme",),
    ... )
    >>> run_trial(some, ResultStore("memory://run_trial")).cost.steps
    0
    """
    if (found := store.find(trial)) is not None:
        return found
    folder = store.workplace(trial)
    with alone_in(folder) as attempt, logged_to(folder / LOG):
        if (found := store.find(trial)) is not None:  # by the one we waited for
            return found
        torch.set_num_threads(cpus)
        forget_peak()
        with counted_in(folder, attempt):
            outcome = _run(trial, folder, cpus)
        seconds, cores, _ = spent_in(folder)
        cost = replace(outcome.cost, seconds=seconds, core_seconds=cores, attempts=attempt)
        outcome = replace(outcome, cost=cost)
        store.keep(outcome)
    return outcome


def _run(trial: Trial, folder: Path, cpus: int) -> Outcome:
    splits = opened(trial)
    known = labelled_splits(trial, splits) if trial.probes else None  # before hours of training
    job = job_of(trial, splits, workers=cpus)
    settled = settled_before(folder, trial)
    if settled is None:
        settled = settle(folder, _steps_settled(trial, job))
    if not settled.whole:
        settled = settle(folder, _rate_settled(settled, trial, job, splits.validation, folder))
    job = replace(job, steps=settled.steps, training=replace(job.training, lr=settled.lr))
    model = _model(trial, job, folder)
    probed = _probed(trial, model, known)
    return Outcome(
        trial=trial,
        fingerprint=trial.fingerprint,
        figures=probed.figures | _criteria(trial, model, job) | {"lr": settled.lr},
        right=probed.right,
        tested=probed.tested,
        cost=_cost(settled, job.training),
        versions=versions(),
        method=job.method.fingerprint,
        data=job.source.fingerprint(),
    )


def _steps_settled(trial: Trial, job: Job) -> Settled:
    """Decide the number of steps: timed again after a stop, they would be other ones."""
    training = job.training
    if trial.kind == "random":
        return Settled(fingerprint=trial.fingerprint, steps=0, lr=training.lr, flops=0.0)
    flops = step_flops(job.method, job.image, training.batch)
    seconds = None
    if isinstance(trial.budget, Seconds):
        seconds = step_seconds(job, seconds=TIMED * trial.budget.n)
    steps = trial.budget.steps(StepCost(training.batch, flops, seconds))
    return Settled(
        fingerprint=trial.fingerprint,
        steps=steps,
        lr=training.lr,
        flops=flops,
        whole=not trial.rates,
    )


def _rate_settled(
    settled: Settled, trial: Trial, job: Job, held_out: Source, folder: Path
) -> Settled:
    """Choose the learning rate, for the number of steps that was decided."""
    steps = settled.steps
    choice = choose_rate(replace(job, steps=steps), held_out, trial.rates, folder=folder)
    return replace(settled, lr=choice.lr, choosing_steps=choice.steps, whole=True)


def _model(trial: Trial, job: Job, folder: Path) -> Model:
    """Train the method; or leave its weights as they are drawn."""
    if trial.kind == "random":
        torch.manual_seed(job.training.seed)
        return job.method.build(image=job.image)
    return pretrain(job, out=folder / "run", resume="auto", health=False).model


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probed:
    """What an outcome has from labelled images."""

    figures: dict[str, float]
    right: dict[str, str]
    tested: int


def _probed(trial: Trial, model: Model, known: Splits | None) -> _Probed:
    """Train and score the probes; without any, labels are not asked for."""
    if known is None:
        return _Probed(figures={}, right={}, tested=0)
    result = evaluate(Representation(model), known, probes=trial.probes, seed=trial.seed)
    if trial.untested:
        figures = {f"{probe.name} validation": probe.validation for probe in result.probes}
        return _Probed(figures=figures, right={}, tested=0)
    return _Probed(
        figures=_figures(result),
        right={probe.name: probe.right[0] for probe in result.probes},
        tested=len(known.test) - result.left_out["test"],
    )


def _figures(result: Result) -> dict[str, float]:
    tests = {probe.name: probe.test for probe in result.probes}
    return tests | {f"{probe.name} validation": probe.validation for probe in result.probes}


def _criteria(trial: Trial, model: Model, job: Job) -> dict[str, float]:
    """Measure without labels; whatever the seed of the trial, on the same images and views."""
    if not trial.criteria:
        return {}
    return measured(model, job.source, trial.criteria, side=job.image[-1])


def _cost(settled: Settled, training: Training) -> Cost:
    steps = settled.steps + settled.choosing_steps
    return Cost(
        images=steps * training.batch,
        steps=settled.steps,
        flops=steps * settled.flops,
        peak_mb=peak_mb(),
        choosing_images=settled.choosing_steps * training.batch,
        choosing_flops=settled.choosing_steps * settled.flops,
    )
