"""The first population of a search: the known methods, or the best of an earlier search."""

from collections.abc import Sequence
from dataclasses import replace

from counterpoint.design.candidate import Candidate, training_pairs
from counterpoint.design.candidate_settings import image_side
from counterpoint.framework import Encoder
from counterpoint.methods import RECIPES, method_named
from counterpoint.methods.kinship import short_parts
from counterpoint.parts.encoders import replace_innermost

SMALL = "-small"


def known(side: int, encoder: Encoder, *, without: Sequence[str] = ()) -> list[Candidate]:
    """Return every method's small recipe for images of one side, but those that need labels.

    `encoder` takes the place of the innermost one; the twin and the head around it stay. `without`
    names methods to leave out.

    >>> from counterpoint import NarrowResNet
    >>> [one.change for one in known(32, NarrowResNet())][:3]
    ['amdim-small', 'cpc-small', 'simclr-small']
    """
    left_out = {f"{name}{SMALL}" for name in without}
    names = [name for name in RECIPES if name.endswith(SMALL) and name not in left_out]
    composed = {name: method_named(name, size=side, encoder=encoder) for name in names}
    return [
        Candidate(method=method, training=training_pairs(RECIPES[name].training), change=name)
        for name, method in composed.items()
        if not method.needs_labels
    ]


def best_of_each_kind(
    best: Sequence[Candidate], count: int, *, side: int, encoder: Encoder
) -> list[Candidate]:
    """Return some candidates of an earlier search, the best of each kind, to begin another with.

    Candidates whose five parts are of the same kinds differ in settings alone. The best candidates
    of a search are mostly of one kind, and nothing new comes of crossing those. If there are fewer
    kinds than `count`, the next best follow. `encoder` takes the place of the innermost one.

    >>> from counterpoint import NarrowResNet
    >>> one, other, *_ = known(32, NarrowResNet())
    >>> again = replace(one, training=other.training, parents=(one.fingerprint,))
    >>> some = best_of_each_kind([one, again, other], 2, side=32, encoder=NarrowResNet())
    >>> [found.change for found in some]
    ['amdim-small', 'cpc-small']
    """
    for candidate in best:
        if image_side(candidate.method) not in {None, side}:
            raise ValueError(
                f"design: the earlier search was on images of {image_side(candidate.method)} "
                f"pixels, and these have {side}; give a search on images of the same size"
            )
    kinds: dict[tuple[str, ...], Candidate] = {}
    for candidate in best:
        kinds.setdefault(short_parts(candidate.method), candidate)
    first = list(kinds.values())
    rest = [candidate for candidate in best if candidate not in first]
    return [_without_parents(one, encoder) for one in (*first, *rest)[:count]]


def _without_parents(candidate: Candidate, encoder: Encoder) -> Candidate:
    """Return a candidate as one of a first round, in which it has no parents."""
    method = candidate.method.swap(encoder=replace_innermost(candidate.method.encoder, encoder))
    change = f"found earlier ({candidate.change})" if candidate.parents else candidate.change
    return replace(candidate, method=method, parents=(), change=change)
