"""Barlow Twins and VICReg against plain loops over images and features, values and gradients."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.framework import PartError, Scores
from counterpoint.parts.losses import BarlowTwins, VICReg
from counterpoint.parts.similarity import Cosine
from reference import newer as loops
from toy import tiny_method

BOUND = 1e-12


def both_views(seed, count, width, spread):
    generator = torch.Generator().manual_seed(seed)
    z = spread * torch.randn(2 * count, width, generator=generator, dtype=torch.float64)
    return (z + torch.arange(width)).requires_grad_()


def scores_of(z):
    count = len(z) // 2
    index = torch.arange(count).repeat(2)
    return Scores(
        anchors=z,
        candidates=z,
        anchor_identity=index,
        candidate_identity=index,
        itself=0,
        shared=True,
        anchor_views=(count, count),
        candidate_views=((count, count),),
    )


def rows_of(z):
    return [list(row) for row in z]


def assert_same(loss, loop, seed, count, width, spread):
    fast, slow = (both_views(seed, count, width, spread) for _ in range(2))
    terms = loss(scores_of(fast))
    ours, theirs = terms.total / terms.count, loop(*map(rows_of, slow.chunk(2)))
    assert abs(ours - theirs) <= BOUND * max(1.0, abs(theirs))
    ours.backward()
    theirs.backward()
    largest = slow.grad.abs().max().clamp(min=1.0)
    assert (fast.grad - slow.grad).abs().max() <= BOUND * largest


SIZES = {
    "seed": st.integers(0, 2**31),
    "count": st.integers(2, 6),
    "width": st.integers(1, 4),
    "spread": st.sampled_from((0.3, 1.0, 5.0)),
}


@given(**SIZES, redundancy=st.sampled_from((0.0, 0.0051, 0.7)))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_barlow_twins_is_its_equation(seed, count, width, spread, redundancy):
    def loop(first, second):
        return loops.barlow_twins(first, second, redundancy=redundancy)

    assert_same(BarlowTwins(redundancy=redundancy), loop, seed, count, width, spread)


@given(**SIZES, weights=st.sampled_from(((25.0, 25.0, 1.0), (1.0, 0.0, 0.0), (0.0, 3.0, 0.5))))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_vicreg_is_its_equation(seed, count, width, spread, weights):
    names = dict(zip(("invariance", "variance", "covariance"), weights, strict=True))

    def loop(first, second):
        return loops.vicreg(first, second, **names)

    assert_same(VICReg(**names), loop, seed, count, width, spread)


@pytest.mark.parametrize("loss", [BarlowTwins(), VICReg()])
def test_a_similarity_that_changes_the_vectors_is_refused(loss):
    method = tiny_method(similarity=Cosine(tau=0.5), loss=loss)
    with pytest.raises(PartError, match=r"loss: got scores with \|s\| <= 2.0, needs the vectors"):
        method.build(image=(3, 8, 8))


@pytest.mark.parametrize("loss", [BarlowTwins(), VICReg()])
def test_other_than_two_views_are_refused(loss):
    z = torch.randn(6, 3)
    scores = Scores(
        anchors=z,
        candidates=z,
        anchor_identity=torch.arange(6) % 2,
        candidate_identity=torch.arange(6) % 2,
        anchor_views=(2, 2, 2),
    )
    with pytest.raises(PartError, match="loss: got 3 views, needs two"):
        loss(scores)


def test_correlated_features_are_what_barlow_twins_dislikes():
    """Two features that are the same cost lambda each; a view that is turned around, 4 each."""
    z = torch.randn(64, 1, dtype=torch.float64)
    same = torch.cat([z, z], dim=1)
    apart = BarlowTwins(redundancy=0.5)(scores_of(torch.cat([same, same]))).total
    assert apart.item() == pytest.approx(2 * 0.5, rel=1e-3)
    turned = BarlowTwins(redundancy=0.0)(scores_of(torch.cat([same, -same]))).total
    assert turned.item() == pytest.approx(8.0, rel=1e-3)
