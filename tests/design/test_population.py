"""The known methods as the first candidates."""

from counterpoint.design.population import known
from counterpoint.methods import METHODS, RECIPES
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
