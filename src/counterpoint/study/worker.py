"""One trial in a process of its own: python -m counterpoint.study.worker RESULTS CPUS < trial."""

import sys

from counterpoint.study.running import run_trial
from counterpoint.study.storing import Store
from counterpoint.study.trial import Trial


def main() -> None:
    """Read a trial's JSON, run it and leave its outcome in the folder of results."""
    root, cpus = sys.argv[1:]
    run_trial(Trial.from_json(sys.stdin.read()), Store(root), cpus=int(cpus))


if __name__ == "__main__":
    main()
