"""The known methods, or the best of an earlier search, as the first candidates."""

from dataclasses import replace

import pytest

from counterpoint.design.population import best_of_each_kind, known
from counterpoint.methods import METHODS, RECIPES
from counterpoint.methods.kinship import short_parts
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.encoders.innermost import innermost


def test_every_small_recipe_without_labels_is_there():
    found = known(48, NarrowResNet(widths=(8, 16), blocks=(1, 1)))
    small = [name for name in METHODS if name.endswith("-small")]
    assert [one.change for one in found] == [n for n in small if n != "supcon-small"]
    assert {innermost(one.method.encoder) for one in found} == {
        NarrowResNet(widths=(8, 16), blocks=(1, 1))
    }
    assert all(one.settings == RECIPES[one.change].training for one in found)
    assert not any(one.parents for one in found)
    assert len({one.fingerprint for one in found}) == len(found)


SMALL, WIDE = NarrowResNet(widths=(8, 16), blocks=(1, 1)), NarrowResNet(widths=(16, 32, 64))


def earlier():
    """SimCLR, MoCo and CMC of an earlier search, each in three trainings, the best first."""
    by_name = {one.change: one for one in known(32, SMALL)}
    found = []
    for name in ("simclr-small", "moco-small", "cmc-small"):
        one = by_name[name]
        for lr in (0.004, 0.005, 0.006):
            training = tuple(sorted((dict(one.training) | {"lr": lr}).items()))
            change = f"training: lr {lr}"
            found.append(replace(one, training=training, parents=(one.fingerprint,), change=change))
    return found


def test_the_best_of_each_kind_of_an_earlier_search_comes_first_with_the_encoder_given():
    best = earlier()
    first = best_of_each_kind(best, 5, side=32, encoder=WIDE)
    assert [one.training for one in first] == [best[n].training for n in (0, 3, 6, 1, 2)]
    assert {innermost(one.method.encoder) for one in first} == {WIDE}
    assert len({short_parts(one.method) for one in first[:3]}) == 3
    assert not any(one.parents for one in first)
    assert first[0].change == "found earlier (training: lr 0.004)"
    assert len(best_of_each_kind(best, 2, side=32, encoder=WIDE)) == 2


def test_a_known_method_of_an_earlier_search_keeps_its_name():
    some = best_of_each_kind(known(32, SMALL)[:2], 2, side=32, encoder=SMALL)
    assert some == known(32, SMALL)[:2]


def test_an_earlier_search_on_images_of_another_size_is_refused():
    with pytest.raises(ValueError, match="on images of 32 pixels, and these have 48"):
        best_of_each_kind(earlier(), 2, side=48, encoder=SMALL)
