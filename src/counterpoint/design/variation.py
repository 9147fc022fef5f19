"""New candidates from old ones: a mutation, a crossover, or a draw from the whole space.

All of it is a function of the candidates and of a `random.Random`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from counterpoint.design.candidate import Candidate
from counterpoint.design.choices import Key, choices_for
from counterpoint.design.settings_tree import Site, nodes, sites, values_of, with_value
from counterpoint.design.wrappers import toggles
from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.methods import RECIPES
from counterpoint.parts.encoders import replace_innermost
from counterpoint.parts.encoders.innermost import innermost
from counterpoint.parts.views import CentreCrop
from counterpoint.study.trial import pairs

BATCH = ("Training", "batch")
TRIES = 100
"""Draws until one gives other settings that their classes accept; nearly all do."""
WRAPPED = 0.3
"""Share of the parts of a random candidate on which a wrapper or stage is put, or taken off."""


def mutated(parent: Candidate, pool: Sequence[Candidate], rng: Random) -> Candidate:
    """Return a candidate that differs in one setting, one part or one wrapper.

    A part comes from a candidate of the pool. Of an encoder that is what is around the network:
    its own network stays.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> pool = known(32, NarrowResNet())
    >>> mutated(pool[2], pool, Random(1)).parents == (pool[2].fingerprint,)
    True
    """
    for _ in range(TRIES):
        (vary,) = rng.choices(list(MUTATIONS), weights=list(MUTATIONS.values()))
        found = _accepted(lambda: vary(parent, pool, rng))  # noqa: B023 (called at once)
        if found is not None and found.fingerprint != parent.fingerprint:
            return replace(found, parents=(parent.fingerprint,))
    raise ValueError(f"design: nothing about {label(parent)} can be changed")


def crossed(one: Candidate, other: Candidate, rng: Random) -> Candidate:
    """Return some parts of one candidate with the rest, and the training, of another.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> amdim, cpc, simclr, *_ = known(32, NarrowResNet())
    >>> crossed(amdim, simclr, Random(0)).change
    'views, loss of amdim-small, the rest of simclr-small'
    """
    different = [name for name in FIVE if getattr(one.method, name) != getattr(other.method, name)]
    if len(different) < 2:
        raise ValueError(
            f"design: {label(one)} and {label(other)} differ in {len(different)} parts; "
            "a crossover needs two at least"
        )
    count = rng.randint(1, len(different) - 1)
    taken = sorted(rng.sample(different, count), key=FIVE.index)
    return Candidate(
        method=other.method.swap(**{name: getattr(one.method, name) for name in taken}),
        training=other.training,
        parents=(one.fingerprint, other.fingerprint),
        change=f"{', '.join(taken)} of {label(one)}, the rest of {label(other)}",
    )


def random_candidate(pool: Sequence[Candidate], rng: Random) -> Candidate:
    """Return a candidate whose parts, wrappers, settings and training are all drawn.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> pool = known(32, NarrowResNet())
    >>> random_candidate(pool, Random(0)) == random_candidate(pool, Random(0))
    True
    """
    parts = {name: getattr(rng.choice(pool).method, name) for name in FIVE}
    drawn = Candidate(method=Method(**parts), training=rng.choice(pool).training)
    for place in FIVE:
        if rng.random() < WRAPPED:
            drawn = _accepted(lambda: _toggled(drawn, (place,), rng)) or drawn  # noqa: B023
    table = _table(drawn, pool)
    for place, site in _sites(drawn, table):
        value = rng.choice(values_of(site, table))
        drawn = _accepted(lambda: _set(drawn, place, site, value)) or drawn  # noqa: B023
    return replace(drawn, parents=(), change="drawn at random")


def label(candidate: Candidate) -> str:
    """Return the name of a known method, the fingerprint of any other."""
    known = not candidate.parents and candidate.change in RECIPES
    return candidate.change if known else candidate.fingerprint


def image_side(method: Method) -> int | None:
    """Return the side of the images that a method was composed for, where its views say it.

    >>> from counterpoint.methods import simclr_small
    >>> image_side(simclr_small(size=64))
    64
    """
    return next((one.size for one in nodes(method.views) if isinstance(one, CentreCrop)), None)


def _accepted(vary: Callable[[], Candidate]) -> Candidate | None:
    """Vary a candidate; None where a class refuses its settings."""
    try:
        return vary()
    except ValueError:
        return None


def _other_setting(parent: Candidate, pool: Sequence[Candidate], rng: Random) -> Candidate:
    table = _table(parent, pool)
    place, site = rng.choice(_sites(parent, table))
    others = [value for value in values_of(site, table) if value != site.value]
    return _set(parent, place, site, rng.choice(others)) if others else parent


def _other_part(parent: Candidate, pool: Sequence[Candidate], rng: Random) -> Candidate:
    place, donor = rng.choice(FIVE), rng.choice(pool)
    now, new = _part(parent, place), _part(donor, place)
    if place == "encoder":
        new = replace_innermost(new, innermost(now))
    return _swapped(parent, place, new, f"{place}: {now} -> {new}")


def _other_wrapper(parent: Candidate, _pool: Sequence[Candidate], rng: Random) -> Candidate:
    return _toggled(parent, FIVE, rng)


def _toggled(parent: Candidate, places: Sequence[str], rng: Random) -> Candidate:
    """Put a wrapper or a stage on one of some parts, or take it off."""
    side = image_side(parent.method)
    every = [(place, one) for place in places for one in toggles(place, _part(parent, place), side)]
    place, toggle = rng.choice(every)
    return _swapped(parent, place, toggle.apply(), f"{place}: {toggle.words}")


Mutation = Callable[[Candidate, Sequence[Candidate], Random], Candidate]
MUTATIONS: dict[Mutation, float] = {_other_setting: 0.5, _other_part: 0.3, _other_wrapper: 0.2}
"""The kinds of mutation and how often each is drawn: our choice."""


def _table(candidate: Candidate, pool: Sequence[Candidate]) -> dict[Key, tuple[Any, ...]]:
    """Return the table of choices, without batches above those of the pool.

    Those fit the data; a larger one may be more images than there are.
    """
    table = choices_for(image_side(candidate.method))
    most = max(one.settings.batch for one in pool)
    fitting = tuple(batch for batch in table[BATCH] if batch <= most)
    return {**table, BATCH: fitting or (most,)}


def _sites(candidate: Candidate, table: Mapping[Key, tuple[Any, ...]]) -> list[tuple[str, Site]]:
    """List the settings that may change, each with its part or "training"."""
    found = [(place, site) for place in FIVE for site in sites(_part(candidate, place), table)]
    training = dict(candidate.training)
    return found + [
        ("training", Site(key, tuple(training[name] for name in key[1].split())))
        for key in table
        if key[0] == "Training"
    ]


def _part(candidate: Candidate, place: str) -> Any:
    return getattr(candidate.method, place)


def _set(candidate: Candidate, place: str, site: Site, value: tuple[Any, ...]) -> Candidate:
    """Return a candidate with another value of a setting."""
    changes = zip(site.names, site.value, value, strict=True)
    said = ", ".join(f"{name} {old} -> {new}" for name, old, new in changes if old != new)
    words = f"{place}: {site.key[0]} {said}"
    if place != "training":
        return _swapped(candidate, place, with_value(_part(candidate, place), site, value), words)
    new = pairs({**dict(candidate.training), **dict(zip(site.names, value, strict=True))})
    return replace(candidate, training=new, change=words)


def _swapped(candidate: Candidate, place: str, part: Any, words: str) -> Candidate:
    return replace(candidate, method=candidate.method.swap(**{place: part}), change=words)
