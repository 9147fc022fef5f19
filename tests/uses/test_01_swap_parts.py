"""Use 1: swap one part of a method, or several."""

import pytest

from counterpoint import Bilinear, Compare, Cosine, PartError, Pooled, Triplet, simclr

SWAPS = {
    "another loss": {"loss": Triplet(margin=0.5)},
    "a temperature that is learned": {"similarity": Cosine(tau=0.1, learn_tau=True)},
    "two parts": {"extraction": Compare.parse("(-1:-2)"), "similarity": Bilinear()},
}


@pytest.mark.parametrize("parts", SWAPS.values(), ids=SWAPS.keys())
def test_a_method_with_other_parts_trains(parts, small, train):
    method = simclr(small).swap(**parts)
    assert method != simclr(small)
    assert train(method).method == method


def test_what_cannot_work_is_refused_before_any_data_is_read(small):
    method = simclr(small).swap(extraction=Pooled(map=-5))
    with pytest.raises(PartError, match="got map=-5, needs one of the encoder's 2 maps"):
        method.build(image=(3, 32, 32))
