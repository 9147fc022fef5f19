"""Run one trial in its own process: python -m counterpoint.study.runners.worker RESULTS CPUS."""

import sys

from counterpoint.study.result_store import ResultStore
from counterpoint.study.trial import Trial
from counterpoint.study.trial_run import run_trial


def work() -> None:
    """Read a trial's JSON, run it and leave its outcome in the folder of results."""
    root, cpus = sys.argv[1:]
    run_trial(Trial.from_json(sys.stdin.read()), ResultStore(root), cpus=int(cpus))


if __name__ == "__main__":
    work()
