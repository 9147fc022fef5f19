"""What a criterion without labels is worth: how far it agrees with labelled probes.

Trials are compared only with trials of the same images and the same budget, as a search does:
a longer training has more of everything, and would make any criterion look good.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.design.design_settings import CHOSEN
from counterpoint.design.judging import validation
from counterpoint.evaluation.criteria import CRITERIA, goodness, mean_rank
from counterpoint.study.outcome import Outcome

RESAMPLES = 2000  # our choice: an end of the interval is then known to about 0.01
COVERED = 0.95
FEWEST = 3  # trials of one group: two are always in the same or in the opposite order
ALL = "mean rank of all"
"""The mean over all criteria of a trial's rank."""


Draws = Float[Tensor, "draw _"]
Candidate = tuple[str, str, object]
"""What has one kind, method and training, whatever the length and the seed. Random weights have the
method and the training of what is trained, and are another candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far one criterion agrees with one labelled probe, and what choosing by it loses."""

    criterion: str
    probe: str
    trials: int
    candidates: int
    """A candidate may have several trials: of other lengths, or seeds."""
    groups: int
    """Sets of trials with equal images and budget."""
    rho: float
    """Spearman's correlation; nan where one of the two has no order."""
    low: float
    high: float
    """The ends of the bootstrap's interval of 95 %."""
    regret: float
    """Points of test accuracy: the trial chosen by labels less the one chosen by the criterion."""
    at_random: float
    """The same for a trial drawn at random: what choosing by nothing loses."""


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Trials that may be compared: what the criteria say, and what the probe says."""

    scores: dict[str, Float[Tensor, " trial"]]
    test: Float[Tensor, " trial"]
    validation: Float[Tensor, " trial"]
    candidates: tuple[Candidate, ...]


def chosen_name(chosen: Sequence[str]) -> str:
    """Name the mean rank of the criteria that a search chooses by.

    >>> chosen_name(("rankme", "lidar"))
    'mean rank of rankme, lidar'
    """
    return f"mean rank of {', '.join(chosen)}"


def calibration(
    outcomes: Iterable[Outcome], *, chosen: Sequence[str] = CHOSEN, seed: int = 0
) -> list[Agreement]:
    r"""Return the agreement of each criterion, and of mean ranks, with each labelled probe.

    Mean ranks are that of the criteria that a search chooses by, where there are several and the
    trials have them all, and that of all criteria. All of it is of the finished trials that have
    the probe and all the criteria that any of them has. With the ranks $r_i$ of the criterion and
    $s_i$ of the probe's test accuracy within the trial's group, from which the group's mean is
    taken,

    $$ \rho = \frac{\sum_i r_i s_i}{\sqrt{\sum_i r_i^2 \sum_i s_i^2}}, $$

    which for one group is Spearman's. A criterion that is nan, as that of a collapsed encoder, has
    the lowest rank. The interval is of candidates that are drawn again, each with all its trials:
    those of one candidate are alike. The regret
    is the mean over groups of the test accuracy of the trial that is best on validation images,
    less that of the trial that the criterion puts first. A trial that leaves the test images unread
    has its validation accuracy in their place: the regret is then a little too large, since the
    best of many is partly lucky.

    >>> from counterpoint.study import Images, Trial
    >>> trial = Trial(method="cpc", data="x", budget=Images(10), criteria=("rankme",))
    >>> def found(rank, knn):
    ...     figures = {"rankme": rank, "knn": knn, "knn validation": knn}
    ...     return Outcome(trial=trial, fingerprint="", figures=figures)
    >>> some = [found(20.0, 0.5), found(30.0, 0.7), found(40.0, 0.6), found(10.0, 0.4)]
    >>> first, _ = calibration(some)
    >>> first.criterion, round(first.rho, 6), round(first.regret, 6), first.trials
    ('rankme', 0.8, 10.0, 4)
    """
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    asked = {name for outcome in done for name in outcome.trial.criteria}
    criteria = [name for name in CRITERIA if name in asked]
    probes = dict.fromkeys(probe for outcome in done for probe in outcome.trial.probes)
    found = []
    for probe in probes:
        groups = _groups(done, criteria, chosen, probe)
        found += [
            _agreement(name, probe, groups, seed) for name in (groups[0].scores if groups else ())
        ]
    return found


def _groups(
    done: Sequence[Outcome], criteria: Sequence[str], chosen: Sequence[str], probe: str
) -> list[_Group]:
    """Return the trials that have all figures, in groups that may be compared."""
    sorted_out: dict[object, list[Outcome]] = {}
    for outcome in done:
        if {validation(probe), *criteria} <= set(outcome.figures):
            place = (outcome.data, outcome.trial.budget)
            sorted_out.setdefault(place, []).append(outcome)
    enough = [some for some in sorted_out.values() if len(some) >= FEWEST]
    return [_group(some, criteria, chosen, probe) for some in enough]


def _group(
    some: Sequence[Outcome], criteria: Sequence[str], chosen: Sequence[str], probe: str
) -> _Group:
    good = {name: [goodness(name, one.figures[name]) for one in some] for name in criteria}
    means = {}
    if len(chosen) > 1 and set(chosen) < set(criteria):  # one, or all, has a row anyway
        means[chosen_name(chosen)] = mean_rank({name: good[name] for name in chosen})
    means[ALL] = mean_rank(good)
    return _Group(
        {name: _lowest_if_nan(values) for name, values in (good | means).items()},
        _lowest_if_nan([one.figures.get(probe, one.figures[validation(probe)]) for one in some]),
        _lowest_if_nan([one.figures[validation(probe)] for one in some]),
        tuple((one.trial.kind, one.method or one.trial.method, one.trial.training) for one in some),
    )


def _lowest_if_nan(values: Sequence[float]) -> Float[Tensor, " trial"]:
    return torch.tensor(values, dtype=torch.float64).nan_to_num(nan=-torch.inf)


def _agreement(name: str, probe: str, groups: Sequence[_Group], seed: int) -> Agreement:
    pairs = [(group.scores[name], group.test) for group in groups]
    places = {
        one: n for n, one in enumerate(dict.fromkeys(c for g in groups for c in g.candidates))
    }
    drawn = _times_drawn(len(places), seed)
    weights = [drawn[:, [places[one] for one in group.candidates]] for group in groups]
    once = [torch.ones(1, len(test), dtype=torch.float64) for _, test in pairs]
    rhos = _correlation(pairs, weights)
    tails = torch.tensor([(1 - COVERED) / 2, (1 + COVERED) / 2], dtype=torch.float64)
    low, high = rhos.nanquantile(tails).tolist()
    lost = [float(g.test[g.validation.argmax()] - g.test[g.scores[name].argmax()]) for g in groups]
    random = [float(g.test[g.validation.argmax()] - g.test.mean()) for g in groups]
    return Agreement(
        criterion=name,
        probe=probe,
        trials=sum(len(group.test) for group in groups),
        candidates=len(places),
        groups=len(groups),
        rho=float(_correlation(pairs, once)),
        low=low,
        high=high,
        regret=100 * sum(lost) / len(groups),
        at_random=100 * sum(random) / len(groups),
    )


def _times_drawn(candidates: int, seed: int) -> Draws:
    """Return how often each candidate is in each draw of as many as there are."""
    generator = torch.Generator().manual_seed(seed)
    draws = torch.randint(candidates, (RESAMPLES, candidates), generator=generator)
    times = torch.zeros(RESAMPLES, candidates, dtype=torch.float64)
    return times.scatter_add_(1, draws, torch.ones_like(times))


def _correlation(
    pairs: Sequence[tuple[Float[Tensor, " _"], Float[Tensor, " _"]]],
    weights: Sequence[Draws],
) -> Float[Tensor, " draw"]:
    """Return the correlation of ranks within groups, for each draw of how often a trial counts."""
    every = list(zip(pairs, weights, strict=True))
    x, y = (
        torch.cat([_centred_ranks(pair[side], times) for pair, times in every], dim=1)
        for side in (0, 1)
    )
    w = torch.cat(list(weights), dim=1)
    rho: Tensor = (w * x * y).sum(dim=1) / (
        (w * x.square()).sum(dim=1) * (w * y.square()).sum(dim=1)
    ).sqrt()
    return rho


def _centred_ranks(values: Float[Tensor, " trial"], times: Draws) -> Draws:
    """Return ranks from -1/2 to 1/2 in each draw; equal values share theirs."""
    below = (values[None] < values[:, None]).double()
    up_to = (values[None] <= values[:, None]).double()
    whole = times.sum(dim=1, keepdim=True)
    return (times @ (below + up_to).T - whole) / (2 * (whole - 1).clamp(min=1))
