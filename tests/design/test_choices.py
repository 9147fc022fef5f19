"""The closed table: every key names settings that exist, every value is one that they take."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from counterpoint.design.choices import CHOICES, SHARES, choices_for
from counterpoint.design.settings_tree import Site, nodes, sites, values_of, with_value
from counterpoint.framework.codec import _fits
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
        assert all(_fits(v, hints[name]) for v, name in zip(value, site.names, strict=True))


def test_every_known_method_has_many_settings_to_change():
    for one in population():
        found = sites(one.method.views, TABLE), sites(one.method.encoder, TABLE)
        assert all(found), one.change
    used = {type(node).__name__ for one in population() for node in nodes_of(one.method)}
    stages = {"GaussianBlur", "OneWay", "ThinResNet", "AMDIMEncoder", "Triplet", "Training"}
    assert {kind for kind, _ in (*CHOICES, *SHARES)} <= used | stages


def nodes_of(method):
    return (node for part in method.__slots__ for node in nodes(getattr(method, part)))


def test_settings_that_are_equal_change_together():
    """The two networks of CMC and the two pipelines of BYOL."""
    wide = Site(("NarrowResNet", "widths blocks"), ((48, 96, 192), (1, 1, 1)))
    assert wide in sites(cmc_small().encoder, TABLE)
    changed = with_value(cmc_small().encoder, wide, ((8, 16, 32), (1, 1, 1)))
    assert [n.widths for n in nodes(changed) if hasattr(n, "widths")] == [(8, 16, 32)] * 2
    crop = Site(("RandomResizedCrop", "size"), (20,))
    views = with_value(byol_small().views, crop, (16,))
    assert views.build((3, 32, 32)).shapes == ((3, 16, 16),) * 2


def test_without_a_side_nothing_in_pixels_is_offered():
    assert choices_for(None) == CHOICES
