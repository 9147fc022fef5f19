"""The parts and settings of a candidate: which may change, and the candidate with another one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from counterpoint.design.candidate import Candidate
from counterpoint.design.choices import Key
from counterpoint.design.settings_tree import Site, nodes, sites, with_value
from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.methods import RECIPES
from counterpoint.parts.views import CentreCrop
from counterpoint.study.trial import pairs


def is_known(candidate: Candidate) -> bool:
    """Whether a candidate is a method of the library and not a change to one."""
    return not candidate.parents and candidate.change in RECIPES


def label(candidate: Candidate) -> str:
    """Return the name of a known method, the fingerprint of any other."""
    return candidate.change if is_known(candidate) else candidate.fingerprint


def image_side(method: Method) -> int | None:
    """Return the side of the images that a method was composed for, where its views say it.

    >>> from counterpoint.methods import simclr_small
    >>> image_side(simclr_small(size=64))
    64
    """
    return next((one.size for one in nodes(method.views) if isinstance(one, CentreCrop)), None)


def part_of(candidate: Candidate, place: str) -> Any:
    """Return one of the five parts of a candidate."""
    return getattr(candidate.method, place)


def setting_sites(
    candidate: Candidate, table: Mapping[Key, tuple[Any, ...]]
) -> list[tuple[str, Site]]:
    """List the settings that may change, each with its part or "training"."""
    found = [(place, site) for place in FIVE for site in sites(part_of(candidate, place), table)]
    training = dict(candidate.training)
    return found + [
        ("training", Site(key, tuple(training[name] for name in key[1].split())))
        for key in table
        if key[0] == "Training"
    ]


def with_setting(candidate: Candidate, place: str, site: Site, value: tuple[Any, ...]) -> Candidate:
    """Return a candidate with another value of a setting."""
    changes = zip(site.names, site.value, value, strict=True)
    said = ", ".join(f"{name} {old} -> {new}" for name, old, new in changes if old != new)
    words = f"{place}: {site.key[0]} {said}"
    if place != "training":
        return with_part(
            candidate, place, with_value(part_of(candidate, place), site, value), words
        )
    new = pairs({**dict(candidate.training), **dict(zip(site.names, value, strict=True))})
    return replace(candidate, training=new, change=words)


def with_part(candidate: Candidate, place: str, part: Any, words: str) -> Candidate:
    """Return a candidate with another part; `words` say the change."""
    return replace(candidate, method=candidate.method.swap(**{place: part}), change=words)


def accepted(vary: Callable[[], Candidate]) -> Candidate | None:
    """Vary a candidate; None where a class refuses its settings."""
    try:
        return vary()
    except ValueError:
        return None
