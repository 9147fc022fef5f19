"""lightly's losses and ours on the same vectors: value and gradient, in float64.

Its losses alone are needed, without what lightly depends on: `scripts/setup` installs the wheel.
"""

import lightly.loss as peer
import pytest
import torch
from lightly.loss.hypersphere_loss import HypersphereLoss
from torch.nn.functional import normalize

from counterpoint.framework import ALONE, Comparison, Scores
from counterpoint.parts.losses import (
    NCE,
    AlignmentUniformity,
    BarlowTwins,
    Regression,
    VICReg,
    WeightedPositives,
)
from counterpoint.parts.similarity import Cosine

SEEDS = range(20)
BOUND = 1e-6  # relative; measured: below 1e-12


def two_views(seed):
    generator = torch.Generator().manual_seed(seed)
    count, width = (int(torch.randint(3, 12, (1,), generator=generator)) for _ in range(2))
    z = torch.randn(2 * count, width, generator=generator, dtype=torch.float64)
    return z.requires_grad_()


def compared(z):
    """Both views of every image are anchors, and candidates of all others."""
    index = torch.arange(len(z) // 2).repeat(2)
    return Comparison(
        anchors=z, candidates=z, anchor_identity=index, candidate_identity=index, itself=0
    )


def by_cosine(loss, tau):
    def ours(z):
        phi = Cosine(tau=tau).build(z.shape[1], z.shape[1])
        terms = loss.build(1 / tau)(phi(compared(z), ALONE))
        return terms.total / terms.count

    return ours


def by_views(loss, prepared):
    """Give the loss the vectors as they are, and which view each is of."""

    def ours(z):
        half, vectors = len(z) // 2, prepared(z)
        index = torch.arange(half).repeat(2)
        scores = Scores(
            anchors=vectors,
            candidates=vectors,
            anchor_identity=index,
            candidate_identity=index,
            itself=0,
            shared=True,
            anchor_views=(half, half),
            candidate_views=((half, half),),
        )
        terms = loss(scores)
        return terms.total / terms.count

    return ours


def as_it_is(z):
    return z


CASES = {
    "NT-Xent": (by_cosine(NCE(), 0.5), peer.NTXentLoss(temperature=0.5)),
    "DCL": (by_cosine(NCE(denominator="negatives"), 0.1), peer.DCLLoss(temperature=0.1)),
    "DCLW": (by_cosine(WeightedPositives(sigma=0.5), 0.1), peer.DCLWLoss(0.1, sigma=0.5)),
    "alignment and uniformity": (
        by_views(AlignmentUniformity(t=2.0), normalize),
        HypersphereLoss(t=2.0),
    ),
    "Barlow Twins": (
        by_views(BarlowTwins(redundancy=0.005), as_it_is),
        peer.BarlowTwinsLoss(lambda_param=0.005),
    ),
    "VICReg": (by_views(VICReg(), as_it_is), peer.VICRegLoss()),
    "squared distance": (
        by_cosine(Regression(), 1.0),
        lambda z0, z1: 2 + 2 * peer.NegativeCosineSimilarity()(z0, z1),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_the_same_vectors_have_the_same_loss(name):
    ours, theirs = CASES[name]
    for seed in SEEDS:
        fast, other = two_views(seed), two_views(seed)
        value, wanted = ours(fast), theirs(*other.chunk(2))
        value.backward()
        wanted.backward()
        torch.testing.assert_close(value, wanted, rtol=BOUND, atol=BOUND)
        torch.testing.assert_close(fast.grad, other.grad, rtol=BOUND, atol=BOUND)
