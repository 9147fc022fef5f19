"""How far methods are from each other: which of the five parts two of them share.

A part is shared when it is of the same kind. Numbers are left out: a temperature, a width, the
smallest crop, how deep a ResNet is. Choices by a word are kept, as is what a part is made around.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.methods.origin import Origin

WORDS = {
    "AMDIMEncoder": "AMDIM's network",
    "Bank": "memory bank",
    "BarlowTwins": "Barlow Twins",
    "ByLabel": "labels",
    "CPCResNet": "ResNet of patches",
    "Compare": "places",
    "Context": "patches above",
    "Headed": "head",
    "Matched": "matched places",
    "MomentumEncoder": "slow twin",
    "PerView": "one for each view",
    "Pooled": "one vector per view",
    "QueryKeyEncoder": "slow twin of keys",
    "ResNet": "ResNet",
    "StopGradient": "fixed copy",
    "ThinResNet": "ResNet",
    "ViewHeads": "a head for each view",
}
"""Words for classes whose names do not say it; any other class is called by its own name."""

DETAILS = ("relu",)
"""Choices that do not make another kind of part."""

AROUND = ("of", "pipelines", "pipeline")
"""Settings that hold the parts which a part is made around."""


def short_parts(method: Method) -> tuple[str, ...]:
    """Return the kind of each of the five parts in a few words.

    >>> from counterpoint.methods import moco
    >>> short_parts(moco(size=224))[1:]
    ('ResNet + head + slow twin of keys', 'queue of keys', 'cosine', 'NCE')
    """
    views, encoder, *others = (getattr(method, name) for name in FIVE)
    return views_kind(views), encoder_kind(encoder), *map(kind, others)


def changed_parts(one: Method, other: Method) -> tuple[str, ...]:
    """Return the names of the parts that are of another kind.

    >>> from counterpoint.methods import amdim, yadim
    >>> changed_parts(amdim(), yadim())
    ('views', 'extraction', 'similarity', 'loss')
    """
    pairs = zip(FIVE, short_parts(one), short_parts(other), strict=True)
    return tuple(name for name, first, second in pairs if first != second)


def part_distance(one: Method, other: Method) -> int:
    """Return how many of the five parts are of another kind, from 0 to 5.

    >>> from counterpoint.methods import simclr, simclr_small
    >>> part_distance(simclr(size=64), simclr_small(size=128))  # another ResNet
    1
    """
    return len(changed_parts(one, other))


def family_order(origins: Mapping[str, Origin]) -> tuple[tuple[int, str], ...]:
    """Order methods as a tree, each behind the one that it changes: (generation, name).

    >>> common = {"authors": "Nobody", "idea": "Nothing."}
    >>> origins = {
    ...     "late": Origin(title="Late", year=2021, after="early", **common),
    ...     "early": Origin(title="Early", year=2019, **common),
    ... }
    >>> family_order(origins)
    ((0, 'early'), (1, 'late'))
    """
    by_age = sorted(origins, key=lambda name: (origins[name].year, origins[name].arxiv, name))

    def descend(parent: str | None, generation: int) -> Iterator[tuple[int, str]]:
        for name in by_age:
            before = origins[name].after
            if (before if before in origins else None) == parent:
                yield generation, name
                yield from descend(name, generation + 1)

    return tuple(descend(None, 0))


def kind(part: object) -> str:
    """Return what a part is, without its numbers; of places it says in which maps.

    >>> from counterpoint.parts.losses import NCE, Penalised
    >>> kind(Penalised(of=NCE(denominator="negatives"), weight=0.3))
    'penalised NCE (denominator negatives)'
    """
    name, inside = class_words(part), [kind(one) for one in _around(part)]
    if len(inside) > 1:
        return " + ".join(inside)
    if inside:
        return f"{name}{' ' if name.endswith('ed') else ' of '}{inside[0]}"
    if name == "places":
        return f"{name} {str(part).partition(',')[0]}"
    chosen = ", ".join(f"{setting} {value}" for setting, value in _choices(part))
    return f"{name} ({chosen})" if chosen else name


def encoder_kind(encoder: object) -> str:
    """Return what an encoder is, from the network outwards.

    >>> from counterpoint.parts.encoders import Headed, ResNet
    >>> encoder_kind(Headed(of=ResNet("resnet18"), out=64))
    'ResNet + head'
    """
    inside = next(_around(encoder), None)
    own = class_words(encoder)
    return own if inside is None else f"{encoder_kind(inside)} + {own}"


def views_kind(views: object) -> str:
    """Return what happens to an image; a stage in brackets happens to some of the views.

    >>> from counterpoint.parts.views.pipelines import byol_views
    >>> views_kind(byol_views(224))
    'crop, flip, jitter, grey, blur, (solarise)'
    """
    inside = list(_around(views))
    if inside:
        each = [views_kind(one).split(", ") for one in inside]
        every = dict.fromkeys(stage for stages in each for stage in stages)
        words = [s if all(s in stages for stages in each) else f"({s})" for s in every]
        return ", ".join([*words, *(["split"] if len(inside) == 1 else [])])
    stages: tuple[object, ...] = (*getattr(views, "once", ()), *getattr(views, "stages", ()))
    words = [_stage_word(stage) for stage in stages]
    return ", ".join(word for word in words if word != "normalise") or class_words(views)


def class_words(part: object) -> str:
    """Return the name of a class as words.

    >>> from counterpoint.parts.similarity import ProjectedCosine
    >>> class_words(ProjectedCosine())
    'projected cosine'
    """
    name = type(part).__name__
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = words.lower() if re.fullmatch(r"(?:[A-Z][a-z]+ ?)+", words) else name
    return WORDS.get(name, plain)


def _stage_word(stage: object) -> str:
    """Return the first word that a stage calls itself."""
    return str(stage).removeprefix("random ").split()[0]


def _around(part: object) -> Iterator[object]:
    """Yield the parts that a part is made around."""
    for name in AROUND:
        inside: Any = getattr(part, name, None)
        yield from inside if isinstance(inside, tuple) else [] if inside is None else [inside]


def _choices(part: object) -> Iterator[tuple[str, str]]:
    """Yield the settings that are words, where they are not the usual ones."""
    for place in fields(part) if is_dataclass(part) else ():
        value = getattr(part, place.name)
        if isinstance(value, str) and value != place.default and place.name not in DETAILS:
            yield place.name, value
