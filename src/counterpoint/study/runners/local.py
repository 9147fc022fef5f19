"""Trials on this machine: one after the other here, or several in processes of their own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial

from counterpoint.data.workers import cores
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.attempts import TrialFailed, attempt
from counterpoint.study.runners.events import Event, Tell, nobody
from counterpoint.study.trial import Trial
from counterpoint.study.trial_run import run_trial

ASKED = (signal.SIGINT, signal.SIGTERM)
STOPPED = {code for number in ASKED for code in (128 + number, -number)}
"""Exit codes of a process that was asked to stop: its trial is not run again."""


def run_here(
    trials: Sequence[Trial],
    store: ResultStore,
    *,
    cpus: int = 1,
    retries: int = 2,
    tell: Tell = nobody,
) -> Iterator[Outcome]:
    """Run trials one after the other in this process: for a notebook, or for a few small ones.

    >>> from counterpoint.study import Images
    >>> some = Trial(
    ...     method="simclr-small", data=str(photos_folder), budget=Images(8), kind="random",
    ...     training=(("batch", 8),), probes=(), criteria=("rankme",),
    ... )
    >>> [outcome] = run_here([some], ResultStore("memory://run_here"))
    >>> outcome.state, sorted(outcome.figures)
    ('done', ['collapsed', 'lr', 'rankme'])
    """
    for trial in not_done(trials, store, tell):
        run = partial(run_trial, trial, store, cpus=cpus)
        yield attempt(trial, store, run, retries=retries, tell=tell)


def run_local(
    trials: Sequence[Trial],
    store: ResultStore,
    *,
    cpus: int = 1,
    at_once: int | None = None,
    retries: int = 2,
    tell: Tell = nobody,
) -> Iterator[Outcome]:
    """Run each trial in its own process, `at_once` of them; yield outcomes as they are ready.

    What one of them does, to its memory or to the interpreter, the others do not notice. As many
    run at once as have `cpus` cores each. When the caller stops, so do they, with a checkpoint.

    >>> list(run_local([], ResultStore("memory://run_local")))  # nothing is left to do
    []
    """
    todo = not_done(trials, store, tell)
    most = at_once or max(1, cores() // cpus)
    pool = ThreadPoolExecutor(max_workers=most)
    running: set[subprocess.Popen[str]] = set()
    try:
        futures = [
            pool.submit(
                attempt, t, store, _Process(t, store, cpus, running), retries=retries, tell=tell
            )
            for t in todo
        ]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in tuple(running):
            process.terminate()
        pool.shutdown(wait=True)


def not_done(trials: Sequence[Trial], store: ResultStore, tell: Tell) -> list[Trial]:
    """Return the trials without an outcome, each once; say of the others what they found."""
    once = {trial.fingerprint: trial for trial in reversed(trials)}
    todo = []
    for trial in reversed(once.values()):
        found = store.find(trial)
        tell(Event(trial, "waiting" if found is None else "done", outcome=found))
        if found is None:
            todo.append(trial)
    return todo


class _Process:
    """A trial as a call that starts a process and waits for it."""

    def __init__(
        self, trial: Trial, store: ResultStore, cpus: int, running: set[subprocess.Popen[str]]
    ) -> None:
        self.trial, self.store, self.cpus, self.running = trial, store, cpus, running

    def __call__(self) -> Outcome:
        # -P: else the current folder comes first, and a torch.py in it would be run.
        worker = [sys.executable, "-P", "-m", "counterpoint.study.runners.worker"]
        process = subprocess.Popen(  # noqa: S603 (this interpreter, on a module of ours)
            [*worker, self.store.root, str(self.cpus)],
            env=os.environ | {"OMP_NUM_THREADS": str(self.cpus)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.add(process)
        said = process.communicate(self.trial.to_json())[1]
        self.running.discard(process)
        found = self.store.find(self.trial)
        if found is None and process.returncode in STOPPED:
            raise KeyboardInterrupt
        if found is None:
            last = said.strip().splitlines()[-1:] or ["it said nothing"]
            raise TrialFailed(f"process ended with {process.returncode}: {last[0]}")
        return found
