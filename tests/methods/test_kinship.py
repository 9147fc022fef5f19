"""The family of methods: distances in parts, and pages that are up to date."""

import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

from counterpoint.methods import ALL, ORIGINS, SEVEN, method_named, simclr
from counterpoint.methods.kinship import changed_parts, family_order, part_distance, short_parts
from counterpoint.parts.extraction import Compare
from counterpoint.parts.losses import NCE, Triplet
from counterpoint.parts.similarity import Dot, ProjectedCosine

ROOT = Path(__file__).parents[2]
METHODS = {name: method_named(name, size=224) for name in ALL}


@pytest.fixture(scope="module")
def drawer():
    loader = importlib.machinery.SourceFileLoader("family", str(ROOT / "scripts" / "family"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("family", loader))
    loader.exec_module(module)
    return module


def test_what_is_drawn_and_listed_is_up_to_date(drawer):
    for name, text in drawer.made().items():
        assert (ROOT / "docs" / name).read_text() == text, "run scripts/family"


def test_a_distance_is_a_distance():
    for one in METHODS.values():
        assert part_distance(one, one) == 0
        for other in METHODS.values():
            far = part_distance(one, other)
            assert far == part_distance(other, one)
            assert all(
                far <= part_distance(one, third) + part_distance(third, other)
                for third in METHODS.values()
            )


def test_numbers_do_not_count_and_kinds_do():
    method = simclr()
    assert changed_parts(method, method.swap(similarity=ProjectedCosine(tau=0.1, out=7))) == ()
    assert changed_parts(method, method.swap(loss=NCE(denominator="negatives"))) == ("loss",)
    other = method.swap(similarity=Dot(), loss=Triplet(), extraction=Compare.parse("(-1:-1)"))
    assert changed_parts(method, other) == ("extraction", "similarity", "loss")
    assert part_distance(method, other) == 3


def test_the_tree_has_every_method_once_behind_the_one_that_it_changes():
    order = family_order(ORIGINS)
    names = [name for _, name in order]
    assert sorted(names) == sorted(ALL)
    for generation, name in order:
        before = ORIGINS[name].after
        if before in ORIGINS:
            assert names.index(before) < names.index(name)
            assert {n: g for g, n in order}[before] == generation - 1
        else:
            assert generation == 0


def test_every_part_has_a_name_that_fits():
    for name in ALL:
        assert all(0 < len(kind) <= 52 for kind in short_parts(METHODS[name])), name
    assert len({short_parts(METHODS[name]) for name in SEVEN}) == 7
