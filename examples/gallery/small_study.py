"""
A study: two methods, two seeds, one table
==========================================
Trials are values with equal budgets. A finished trial is never run twice.
"""

import sys

from counterpoint.study import Images, ResultStore, Trial, run_here, seeds
from counterpoint.study.tables.formats import markdown
from counterpoint.study.tables.outcome_table import tabulate

SMOKE = "--smoke" in sys.argv
trials = [
    trial
    for name in ("simclr-small", "moco-small")
    for trial in seeds(
        Trial(
            name=name,
            method=name,
            encoder="small",
            data="$COUNTERPOINT_DATA/cifar10",
            limit=200 if SMOKE else 500,
            budget=Images(64 if SMOKE else 512),
            training=(("batch", 64),),
            probes=("knn",),
            rates=(2e-3,),
            row=name,
            column="CIFAR-10",
        ),
        1 if SMOKE else 2,
    )
]

# %%
store = ResultStore("results")
store.plan(trials)
for outcome in run_here(trials, store):
    print(outcome.trial.key, outcome.state, {k: round(v, 3) for k, v in outcome.figures.items()})

# %%
# So few images say nothing about the methods; the form is that of a real study.
print(markdown(tabulate(store.every(), planned=store.planned(), figure="knn")))
