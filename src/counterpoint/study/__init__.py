"""Studies: trials as data, run here or on a cluster, and their tables."""

from counterpoint.study.budget import Budget, Flops, Images, Seconds
from counterpoint.study.local import run_here, run_local
from counterpoint.study.outcome import Cost, Outcome
from counterpoint.study.running import run_trial
from counterpoint.study.storing import Store
from counterpoint.study.trial import Trial, pairs, seeds

__all__ = [
    "Budget",
    "Cost",
    "Flops",
    "Images",
    "Outcome",
    "Seconds",
    "Store",
    "Trial",
    "pairs",
    "run_here",
    "run_local",
    "run_trial",
    "seeds",
]
