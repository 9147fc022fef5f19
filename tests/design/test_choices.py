"""The closed table: every key names settings that exist, every value is one that they take."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from counterpoint.design.choices import CHOICES, SHARES, choices_for
from counterpoint.design.settings_tree import Site, nodes, sites, values_of, with_value
from counterpoint.framework.codec import fits
from counterpoint.framework.settings import Training
from counterpoint.methods import byol_small, cmc_small
from counterpoint.parts import PARTS
from design.compositions import population

TABLE = choices_for(32)


@pytest.mark.parametrize("key", TABLE, ids=" ".join)
def test_a_key_names_settings_and_a_value_fits_them(key):
    kind = {**PARTS, "Training": Training}[key[0]]
    site = Site(key, ())
    hints = get_type_hints(kind)
    assert set(site.names) <= {place.name for place in fields(kind)}
    values = values_of(site, TABLE)
    assert len(values) == len(set(values)) > 1
    for value in values:
        assert all(fits(v, hints[name]) for v, name in zip(value, site.names, strict=True))


def test_every_known_method_has_many_settings_to_change():
    for one in population():
        parts = one.method.views, one.method.similarity, one.method.loss
        assert sum(len(sites(part, TABLE)) for part in parts) >= 4, one.change
    used = {type(node).__name__ for one in population() for node in nodes_of(one.method)}
    stages = {"GaussianBlur", "OneWay", "Triplet", "Training"}
    assert {kind for kind, _ in (*CHOICES, *SHARES)} <= used | stages


def nodes_of(method):
    return (node for part in method.__slots__ for node in nodes(getattr(method, part)))


def test_no_setting_of_a_network_is_in_the_table():
    """The encoder is what --encoder says; what is around it, which has it in `of`, may change."""
    kinds = {name: kind for name, kind in PARTS.items() if getattr(kind, "part", "") == "encoder"}
    networks = {
        name for name, kind in kinds.items() if "of" not in {place.name for place in fields(kind)}
    }
    assert "NarrowResNet" in networks
    assert not networks & {kind for kind, _ in TABLE}


def test_settings_that_are_equal_change_together():
    """The two heads of CMC and the two pipelines of BYOL."""
    heads = Site(("Headed", "out"), (128,))
    assert heads in sites(cmc_small().encoder, TABLE)
    changed = with_value(cmc_small().encoder, heads, (64,))
    assert [n.out for n in nodes(changed) if hasattr(n, "out")] == [64] * 2
    crop = Site(("RandomResizedCrop", "size"), (20,))
    views = with_value(byol_small().views, crop, (16,))
    assert views.build((3, 32, 32)).shapes == ((3, 16, 16),) * 2


def test_without_a_side_nothing_in_pixels_is_offered():
    assert choices_for(None) == CHOICES
