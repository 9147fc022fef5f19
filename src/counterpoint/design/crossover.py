"""New candidates from two old ones: parts of both, or settings of both."""

from dataclasses import replace
from random import Random
from typing import Any

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import (
    accepted,
    image_side,
    label,
    setting_sites,
    with_setting,
)
from counterpoint.design.choices import Key, choices_for
from counterpoint.design.settings_tree import Site
from counterpoint.framework.method import FIVE


def crossed(one: Candidate, other: Candidate, rng: Random) -> Candidate:
    """Return some parts of one candidate with the rest, and the training, of another.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> amdim, cpc, simclr, *_ = known(32, NarrowResNet())
    >>> crossed(amdim, simclr, Random(0)).change
    'views, loss of amdim-small, the rest of simclr-small'
    """
    different = parts_that_differ(one, other)
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


def parts_that_differ(one: Candidate, other: Candidate) -> list[str]:
    """Return the parts that two candidates do not share: a crossover of parts needs two of them."""
    return [name for name in FIVE if getattr(one.method, name) != getattr(other.method, name)]


def with_settings_of(donor: Candidate, taker: Candidate, rng: Random) -> Candidate:
    """Return a candidate with some settings of a donor, in parts that both have.

    A crossover of parts cannot put the crops of SimCLR into the views of CMC, whose channels are
    split: the views are one part. This one can.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> pool = {one.change: one for one in known(32, NarrowResNet())}
    >>> with_settings_of(pool["alignuniform-small"], pool["cmc-small"], Random(1)).change
    'of alignuniform-small: training: Training lr 0.002 -> 0.003, the rest of cmc-small'
    """
    different = settings_that_differ(taker, donor)
    if not different:
        raise ValueError(f"design: {label(taker)} has no setting to take from {label(donor)}")
    found, words = taker, list[str]()
    for place, site, value in rng.sample(different, rng.randint(1, len(different))):
        changed = accepted(lambda: with_setting(found, place, site, value))  # noqa: B023 (at once)
        if changed is not None:
            found, words = changed, [*words, changed.change]
    return replace(
        found,
        parents=(taker.fingerprint, donor.fingerprint),
        change=f"of {label(donor)}: {'; '.join(words)}, the rest of {label(taker)}",
    )


def settings_that_differ(
    one: Candidate, other: Candidate
) -> list[tuple[str, Site, tuple[Any, ...]]]:
    """Return the settings of one candidate that another has with another value, and that value.

    A setting that a part of the other has several times, with several values, is left out.
    """
    theirs: dict[tuple[str, Key], list[tuple[Any, ...]]] = {}
    for place, site in setting_sites(other, choices_for(image_side(other.method))):
        theirs.setdefault((place, site.key), []).append(site.value)
    return [
        (place, site, theirs[place, site.key][0])
        for place, site in setting_sites(one, choices_for(image_side(one.method)))
        if len(theirs.get((place, site.key), [])) == 1 and theirs[place, site.key] != [site.value]
    ]
