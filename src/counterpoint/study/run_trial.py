"""One trial, from its record to its outcome; done once, and gone on with when interrupted."""

import time
from dataclasses import replace
from pathlib import Path

import torch

from counterpoint.data import Splits, image_shape
from counterpoint.data.source import all_labels
from counterpoint.evaluation import Representation, Result, evaluate
from counterpoint.framework import Method, Model
from counterpoint.framework.settings import Training
from counterpoint.pretraining import pretrain
from counterpoint.run import versions
from counterpoint.study.budget import Seconds, StepCost
from counterpoint.study.composing import composed, opened, training_for
from counterpoint.study.learning_rate import choose_rate
from counterpoint.study.outcome import Cost, Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.settled import Settled, settle, settled_before
from counterpoint.study.step_cost import step_seconds
from counterpoint.study.supervised import supervised
from counterpoint.study.trial import Trial
from counterpoint.study.workplace import alone_in, forget_peak, logged_to, peak_mb
from counterpoint.training.cost import step_flops


def run_trial(trial: Trial, store: ResultStore, *, cpus: int = 1) -> Outcome:
    """Train and evaluate, and keep the outcome; a trial that was done is read, not run.

    `cpus` threads compute: sums are added in another order by more of them, so that only trials
    of equal `cpus` agree to the bit.
    """
    if (found := store.find(trial)) is not None:
        return found
    folder = store.workplace(trial)
    with alone_in(folder) as attempt, logged_to(folder / "log.txt"):
        if (found := store.find(trial)) is not None:  # by the one we waited for
            return found
        torch.set_num_threads(cpus)
        forget_peak()
        outcome = _run(trial, folder)
        outcome = replace(outcome, cost=replace(outcome.cost, attempts=attempt))
        store.keep(outcome)
    return outcome


def _run(trial: Trial, folder: Path) -> Outcome:
    started = time.monotonic()
    splits = opened(trial)
    image = image_shape(splits.train, size=trial.size)
    training = training_for(trial)
    method = _method(trial, splits, image)
    settled = settled_before(folder, trial)
    if settled is None:
        settled = settle(folder, _settled(trial, method, splits, image, training, folder))
    training = replace(training, lr=settled.lr)
    model = _model(trial, method, splits, image, training, settled, folder)
    known = splits.for_probes()
    if trial.labelled is not None:
        known = known.head(trial.labelled)
    result = evaluate(Representation(model), known, probes=trial.probes, seed=trial.seed)
    return Outcome(
        trial=trial,
        fingerprint=trial.fingerprint,
        figures=_figures(result) | {"lr": settled.lr},
        right={probe.name: probe.right[0] for probe in result.probes},
        tested=len(known.test) - result.left_out["test"],
        cost=_cost(settled, training, time.monotonic() - started),
        versions=versions(),
        method=method.fingerprint,
        data=splits.train.fingerprint(),
    )


def _method(trial: Trial, splits: Splits, image: tuple[int, ...]) -> Method:
    method = composed(trial, size=image[-1])
    if trial.kind != "supervised":
        return method
    if not splits.train.has_labels:
        raise ValueError(f"study: {splits.train!r}; a supervised trial needs labels")
    return supervised(method, all_labels(splits.train))


def _settled(
    trial: Trial,
    method: Method,
    splits: Splits,
    image: tuple[int, ...],
    training: Training,
    folder: Path,
) -> Settled:
    """Decide the number of steps and the learning rate."""
    if trial.kind == "random":
        return Settled(fingerprint=trial.fingerprint, steps=0, lr=training.lr, flops=0.0)
    flops = step_flops(method, image, training.batch)
    seconds = None
    if isinstance(trial.budget, Seconds):
        seconds = step_seconds(method.build(image=image), splits.train, training)
    steps = trial.budget.steps(StepCost(training.batch, flops, seconds))
    settled = Settled(fingerprint=trial.fingerprint, steps=steps, lr=training.lr, flops=flops)
    if not trial.rates:
        return settled
    choice = choose_rate(method, splits, training, trial.rates, steps=steps, folder=folder)
    return replace(settled, lr=choice.lr, choosing_steps=choice.steps)


def _model(
    trial: Trial,
    method: Method,
    splits: Splits,
    image: tuple[int, ...],
    training: Training,
    settled: Settled,
    folder: Path,
) -> Model:
    """Train the method; or leave its weights as they are drawn."""
    if trial.kind == "random":
        torch.manual_seed(training.seed)
        return method.build(image=image)
    run = pretrain(
        method,
        splits,
        out=folder / "run",
        training=training,
        steps=settled.steps,
        size=trial.size,
        workers=torch.get_num_threads(),
        resume="auto",
        health=False,
    )
    return run.model


def _figures(result: Result) -> dict[str, float]:
    tests = {probe.name: probe.test for probe in result.probes}
    return tests | {f"{probe.name} validation": probe.validation for probe in result.probes}


def _cost(settled: Settled, training: Training, seconds: float) -> Cost:
    steps = settled.steps + settled.choosing_steps
    return Cost(
        images=steps * training.batch,
        steps=settled.steps,
        flops=steps * settled.flops,
        seconds=seconds,
        peak_mb=peak_mb(),
        choosing_images=settled.choosing_steps * training.batch,
        choosing_flops=settled.choosing_steps * settled.flops,
    )
