"""New candidates: a mutation of an old one, or a draw from the whole space.

All of it is a function of the candidates and of a `random.Random`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import (
    accepted,
    image_side,
    label,
    part_of,
    setting_sites,
    with_part,
    with_setting,
)
from counterpoint.design.choices import Key, choices_for
from counterpoint.design.settings_tree import Site, values_of
from counterpoint.design.wrappers import toggles
from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.parts.encoders import replace_innermost
from counterpoint.parts.encoders.innermost import innermost

BATCH, RATE = ("Training", "batch"), ("Training", "lr")
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
        found = accepted(lambda: vary(parent, pool, rng))  # noqa: B023 (called at once)
        if found is not None and found.fingerprint != parent.fingerprint:
            return replace(found, parents=(parent.fingerprint,))
    raise ValueError(f"design: nothing about {label(parent)} can be changed")


def with_next_rates(parent: Candidate) -> list[Candidate]:
    """Return a candidate with the next learning rate of the table above its own, and below it.

    No other number is known to decide as much: three rivals gained 3.4 to 3.5 points of the linear
    probe by theirs (docs/design-results.md). Drawn as any other, it would hardly ever change.

    >>> from counterpoint.methods import simclr_small
    >>> one = Candidate(method=simclr_small(), training=(("lr", 0.003),), change="simclr-small")
    >>> [child.change for child in with_next_rates(one)]
    ['training: Training lr 0.003 -> 0.005', 'training: Training lr 0.003 -> 0.002']
    """
    now = dict(parent.training)["lr"]
    rates = choices_for(None)[RATE]
    above, below = (one for one in rates if one > now), (one for one in rates if one < now)
    next_ones = [*sorted(above)[:1], *sorted(below)[-1:]]
    site = Site(RATE, (now,))
    return [
        replace(with_setting(parent, "training", site, (rate,)), parents=(parent.fingerprint,))
        for rate in next_ones
    ]


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
            drawn = accepted(lambda: _toggled(drawn, (place,), rng)) or drawn  # noqa: B023
    table = _table(drawn, pool)
    for place, site in setting_sites(drawn, table):
        value = rng.choice(values_of(site, table))
        drawn = accepted(lambda: with_setting(drawn, place, site, value)) or drawn  # noqa: B023
    return replace(drawn, parents=(), change="drawn at random")


def _other_setting(parent: Candidate, pool: Sequence[Candidate], rng: Random) -> Candidate:
    table = _table(parent, pool)
    place, site = rng.choice(setting_sites(parent, table))
    others = [value for value in values_of(site, table) if value != site.value]
    return with_setting(parent, place, site, rng.choice(others)) if others else parent


def _other_part(parent: Candidate, pool: Sequence[Candidate], rng: Random) -> Candidate:
    place, donor = rng.choice(FIVE), rng.choice(pool)
    now, new = part_of(parent, place), part_of(donor, place)
    if place == "encoder":
        new = replace_innermost(new, innermost(now))
    return with_part(parent, place, new, f"{place}: {now} -> {new}")


def _other_wrapper(parent: Candidate, _pool: Sequence[Candidate], rng: Random) -> Candidate:
    return _toggled(parent, FIVE, rng)


def _toggled(parent: Candidate, places: Sequence[str], rng: Random) -> Candidate:
    """Put a wrapper or a stage on one of some parts, or take it off."""
    side = image_side(parent.method)
    every = [
        (place, one) for place in places for one in toggles(place, part_of(parent, place), side)
    ]
    place, toggle = rng.choice(every)
    return with_part(parent, place, toggle.apply(), f"{place}: {toggle.words}")


Mutation = Callable[[Candidate, Sequence[Candidate], Random], Candidate]
MUTATIONS: dict[Mutation, float] = {_other_setting: 0.5, _other_part: 0.3, _other_wrapper: 0.2}
"""The kinds of mutation and how often each is drawn: our choice."""


def _table(candidate: Candidate, pool: Sequence[Candidate]) -> dict[Key, tuple[Any, ...]]:
    """Return the table of choices, without batches above those of the pool.

    A larger one would hardly fit the data, and the search would refuse it.
    """
    table = choices_for(image_side(candidate.method))
    most = max(one.settings.batch for one in pool)
    fitting = tuple(batch for batch in table[BATCH] if batch <= most)
    return {**table, BATCH: fitting or (most,)}
