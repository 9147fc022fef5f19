"""Which shipped methods a confirmation compares with: the best with labels, tuned if asked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from counterpoint.design.candidate import Candidate
from counterpoint.design.choices import CHOICES
from counterpoint.design.confirmation_plan import ConfirmationPlan
from counterpoint.design.design_settings import trial_of
from counterpoint.design.search_start import shipped_that_fit
from counterpoint.design.searched import Searched
from counterpoint.failures import RunFailure
from counterpoint.framework import Method
from counterpoint.study.budget import Flops
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.run_trials import RunTrials
from counterpoint.study.trial import Trial, pairs

HEAT = "heat"
"""The column of trials that choose rivals."""


def shipped_rivals(
    found: Searched, store: ResultStore, run: RunTrials, *, seed: int, count: int
) -> list[Candidate]:
    """Choose the shipped methods to compare with: with labels, at full length."""
    shipped = shipped_that_fit(found.settings)
    return best_of_heat(shipped, _heat(shipped, found, store, run, seed), count)


def tuned_rivals(
    found: Searched, store: ResultStore, run: RunTrials, plan: ConfirmationPlan
) -> list[Candidate]:
    """Choose shipped methods and their learning rates, among those that the search chose from.

    Twice as many methods as are wanted run with every rate: a rate may change their order.
    """
    *_, count = plan.counts
    best = shipped_rivals(found, store, run, seed=plan.heat_seed, count=2 * count)
    tried = with_rates(best, CHOICES["Training", "lr"])
    ends = _heat(tried, found, store, run, plan.heat_seed, whole=False)
    return best_of_heat([one for one in tried if one.fingerprint in ends], ends, count)


def _heat(
    some: Sequence[Candidate],
    found: Searched,
    store: ResultStore,
    run: RunTrials,
    seed: int,
    *,
    whole: bool = True,
) -> dict[str, Outcome]:
    """Run what is missing of a heat, and return all of it by the candidate's fingerprint.

    With `whole` all have to finish. Without, those that failed are left out: training diverges at
    some of the rates that are tried.
    """
    pattern = trial_of(some[0], found.settings.rungs[-1], found.settings)
    heats = heat_trials(some, pattern, full=found.settings.full, seed=seed)
    errors = [o.error for o in run(list(heats.values()), store) if o.error]
    ends = {name: store.find(trial) for name, trial in heats.items()}
    missing = [heats[name].row for name, outcome in ends.items() if outcome is None]
    if missing and (whole or len(missing) == len(ends)):
        said = f"; the first said: {errors[0]}" if errors else ""
        raise RunFailure(
            f"design: {', '.join(missing)} did not finish; rivals are chosen among all shipped "
            f"methods: look at {store.root}, and run the same command again{said}"
        )
    return {name: outcome for name, outcome in ends.items() if outcome is not None}


def heat_trials(
    shipped: Sequence[Candidate], pattern: Trial, *, full: float, seed: int
) -> dict[str, Trial]:
    """Return a trial of every shipped method, judged by a labelled probe on validation images.

    By the fingerprint of the candidate. A search without labels may rank shipped methods badly,
    and its best would be a weak rival. So rivals are chosen with labels, which what was found had
    not: an advantage for the rival.
    """
    shared = replace(pattern, probes=("linear",), criteria=(), untested=True, labelled=None)
    return {
        one.fingerprint: replace(
            shared,
            name=f"heat {one.change}",
            row=one.change,
            column=HEAT,
            method=one.method.to_json(),
            training=one.training,
            budget=Flops(full),
            seed=seed,
        )
        for one in shipped
    }


def best_of_heat(
    shipped: Sequence[Candidate], found: Mapping[str, Outcome], count: int
) -> list[Candidate]:
    """Return the methods with the best linear probe on validation images, the best first.

    A method that ran with several rates comes once, with its best one.
    """

    def figure(one: Candidate) -> float:
        return found[one.fingerprint].figures.get("linear validation", 0.0)

    once: dict[Method, Candidate] = {}
    for one in sorted(shipped, key=lambda one: -figure(one)):
        once.setdefault(one.method, one)
    return list(once.values())[:count]


def with_rates(shipped: Sequence[Candidate], rates: Sequence[float]) -> list[Candidate]:
    """Return shipped methods with each of some learning rates, beside their own.

    Their names then say the rate.

    >>> from counterpoint.methods import simclr_small
    >>> one = Candidate(method=simclr_small(), training=(("lr", 0.003),), change="simclr-small")
    >>> [some.change for some in with_rates([one], [0.001, 0.003])]
    ['simclr-small', 'simclr-small, lr 0.001']
    """
    found = {}
    for one in shipped:
        found[one.fingerprint] = one
        for rate in rates:
            training = pairs({**dict(one.training), "lr": rate})
            other = replace(one, training=training, change=f"{one.change}, lr {rate:g}")
            found.setdefault(other.fingerprint, other)
    return list(found.values())
