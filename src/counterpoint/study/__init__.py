"""Studies: trials as data, run here or on a cluster, and their tables."""

from counterpoint.study.budget import Budget, Flops, Images, Seconds
from counterpoint.study.outcome import Cost, Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.local import run_here, run_local
from counterpoint.study.trial import Trial, pairs, seeds
from counterpoint.study.trial_run import run_trial

__all__ = [
    "Budget",
    "Cost",
    "Flops",
    "Images",
    "Outcome",
    "ResultStore",
    "Seconds",
    "Trial",
    "pairs",
    "run_here",
    "run_local",
    "run_trial",
    "seeds",
]
