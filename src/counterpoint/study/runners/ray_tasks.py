"""Trials as tasks of a Ray cluster: as many at once as it has room for."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from counterpoint.ray_connection import joined_ray, room_on, worker_environment
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.attempts import TrialFailed, error_words, failed
from counterpoint.study.runners.events import Event, Tell, nobody
from counterpoint.study.runners.local import not_done
from counterpoint.study.trial import PACKAGE, Trial
from counterpoint.study.trial_run import run_trial

AHEAD = 2  # tasks in flight for each that has room: enough that no machine waits for us
TICK = 1.0  # seconds between two looks


@dataclass
class _Waiting:
    """A trial, the failures it may still have, and the deaths it may still meet."""

    trial: Trial
    retries: int
    deaths: int


def run_ray(
    trials: Sequence[Trial],
    store: ResultStore,
    *,
    cpus: int = 1,
    gpus: float = 0.0,
    retries: int = 2,
    deaths: int = 10,
    address: str | None = None,
    tell: Tell = nobody,
) -> Iterator[Outcome]:
    """Run trials on a Ray cluster; outcomes are yielded as they are ready.

    Each task has `cpus` cores, which are its threads, and `gpus`, which may be a fraction. A trial
    that raises is run up to `retries` more times. One whose process or node died is moved to
    another node up to `deaths` times, for machines that may be preempted, and resumes from its
    checkpoint if the results are on a disk that both see. Tasks are submitted only while the
    cluster has room for them, so that a thousand trials cost Ray no more than ten.

    `address` is that of a cluster; none joins the one around this process, or starts one here.
    """
    ray = joined_ray(address, what="study")
    task = ray.remote(_run).options(
        num_cpus=cpus, num_gpus=gpus, max_retries=0, runtime_env=worker_environment(cpus)
    )
    waiting = deque(_Waiting(trial, retries, deaths) for trial in not_done(trials, store, tell))
    flying: dict[Any, _Waiting] = {}
    here = str(Path.cwd())
    while waiting or flying:
        while waiting and len(flying) < AHEAD * room_on(ray, cpus, gpus):
            one = waiting.popleft()
            flying[task.remote(*_luggage(one.trial), store.root, cpus, here)] = one
            tell(Event(one.trial, "running"))
        ready, _ = ray.wait(list(flying), num_returns=1, timeout=TICK)
        for reference in ready:
            one = flying.pop(reference)
            outcome = _landed(ray, reference, one, waiting, store, tell)
            if outcome is not None:
                yield outcome


def _landed(
    ray: Any,
    reference: Any,
    one: _Waiting,
    waiting: deque[_Waiting],
    store: ResultStore,
    tell: Tell,
) -> Outcome | None:
    """Take what a task gave, or put its trial back in the queue."""
    try:
        outcome = Outcome.from_json(ray.get(reference))
    except ray.exceptions.RayTaskError as error:  # the trial raised
        one, left = replace(one, retries=one.retries - 1), one.retries
        why = error_words(error.cause)
    except ray.exceptions.RayError as error:  # its process or its node is gone
        one, left = replace(one, deaths=one.deaths - 1), one.deaths
        why = str(error).partition("\n")[0]
    else:
        outcome = replace(outcome, trial=one.trial)
        if store.find(one.trial) is None:  # that machine wrote it to a disk of its own
            store.keep(outcome)
        tell(Event(one.trial, "done", outcome=outcome))
        return outcome
    if left > 0:
        waiting.append(one)
        tell(Event(one.trial, "again", why))
        return None
    return failed(one.trial, store, why, tell)


def _run(trial_text: str, parts: str | None, root: str, cpus: int, here: str) -> str:
    """Run one trial where Ray put it; give its outcome as JSON.

    `here` is the folder in which the study was begun: a relative path means the same there.
    """
    if Path(here).is_dir():
        os.chdir(here)
    trial = Trial.from_json(trial_text)
    with ExitStack() as stack:
        if parts is not None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="counterpoint-parts-")))
            file = folder / Path(trial.parts or "parts.py").name
            file.write_text(parts)
            trial = replace(trial, parts=str(file))
        try:
            return run_trial(trial, ResultStore(root), cpus=cpus).to_json()
        except Exception as error:  # noqa: BLE001 (it is raised again, in words)
            # Only words cross between machines: an error of a user's own class cannot be read
            # there.
            raise TrialFailed(error_words(error)) from None


def _luggage(trial: Trial) -> tuple[str, str | None]:
    """Write a trial, and the text of its file of parts if other machines do not have that."""
    file = trial.parts_file
    if file is None or file.is_relative_to(PACKAGE):
        return trial.to_json(), None
    return trial.to_json(), file.read_text()
