"""Crossovers: of parts, and of settings in parts that both have."""

from itertools import pairwise
from random import Random

import pytest

from counterpoint.design.candidate_settings import image_side, with_setting
from counterpoint.design.crossover import (
    crossed,
    parts_that_differ,
    settings_that_differ,
    with_settings_of,
)
from counterpoint.design.settings_tree import Site, nodes
from counterpoint.methods.kinship import short_parts
from design.compositions import composed, population


def named(*names):
    by_name = {one.change: one for one in population()}
    return [by_name[name] for name in names]


def test_a_crossover_takes_parts_of_both_and_the_training_of_one():
    one, other = named("moco-small", "cpc-small")
    for seed in range(20):
        child = crossed(one, other, Random(seed))
        taken = parts_that_differ(child, other)
        assert taken
        assert parts_that_differ(child, one)
        assert all(getattr(child.method, n) == getattr(one.method, n) for n in taken)
        assert child.training == other.training
        assert child.parents == (one.fingerprint, other.fingerprint)
        assert child.change == f"{', '.join(taken)} of moco-small, the rest of cpc-small"


def test_two_methods_that_differ_in_one_part_are_not_crossed():
    with pytest.raises(ValueError, match="simclr-small and dcl-small differ in 1 parts"):
        crossed(*named("simclr-small", "dcl-small"), Random(0))


def test_crops_of_one_method_come_into_the_split_channels_of_another():
    cmc, simclr = named("cmc-small", "simclr-small")
    smaller = with_crops(simclr, 16)
    found = [with_settings_of(smaller, cmc, Random(seed)) for seed in range(20)]
    crops = {side for one in found for side in crop_sides(one)}
    assert crops == {20, 16}
    for child in found:
        assert short_parts(child.method) == short_parts(cmc.method)
        assert child.parents == (cmc.fingerprint, smaller.fingerprint)
        assert child.fingerprint != cmc.fingerprint
        assert child.change.endswith("the rest of cmc-small")
        assert image_side(child.method) == 32


def test_settings_that_a_crossover_took_are_those_of_the_other():
    candidates, rng = composed(40), Random(0)
    taken = 0
    for one, other in pairwise(candidates):
        before = settings_that_differ(one, other)
        if not before:
            continue
        child = with_settings_of(other, one, rng)
        after = settings_that_differ(child, other)
        assert len(after) < len(before)
        assert {(place, site.key) for place, site, _ in after} <= {
            (place, site.key) for place, site, _ in before
        }
        taken += len(before) - len(after)
    assert taken > 40


def test_what_has_no_settings_in_common_is_said():
    (simclr,) = named("simclr-small")
    with pytest.raises(ValueError, match="simclr-small has no setting to take from simclr-small"):
        with_settings_of(simclr, simclr, Random(0))


def with_crops(candidate, side):
    """Give the crops of a candidate another side."""
    (now,) = crop_sides(candidate)
    return with_setting(candidate, "views", Site(("RandomResizedCrop", "size"), (now,)), (side,))


def crop_sides(candidate):
    return {
        node.size
        for node in nodes(candidate.method.views)
        if type(node).__name__ == "RandomResizedCrop"
    }
