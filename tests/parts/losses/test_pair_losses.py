"""The losses that came after the paper against the loops, on random sets of anchors."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.framework import PartError, Scores
from counterpoint.parts.losses import (
    NCE,
    AlignmentUniformity,
    HardNegatives,
    NearestEntropy,
    Sigmoid,
    Spectral,
    Triplet,
    WeightedPositives,
)
from counterpoint.parts.losses import crowded as module
from parts.losses.test_losses import SWITCHES, assert_same
from reference import losses, softmax
from reference import pair_losses as reference

CASES = settings(max_examples=100, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 10**6)
taus = st.sampled_from([1.0, 0.5, 0.1])


def drawn(seed, inverse_tau):
    """Some anchors among more candidates, of a few images: up to three positives, or none."""
    generator = torch.Generator().manual_seed(seed)
    n, m = (int(torch.randint(low, low + 3, (1,), generator=generator)) for low in (2, 4))
    z = torch.randn(m, 2, generator=generator, dtype=torch.float64)
    z = inverse_tau**0.5 * z / z.norm(dim=1, keepdim=True)
    images = torch.randint(3, (m,), generator=generator)
    images[0], images[1], images[2] = 0, 0, 1  # a positive, and a negative
    shared = bool(seed % 2)
    return z, images, m if shared else n, shared


def both(seed, inverse_tau):
    """The same scores for the fast loss and as rows for the loops."""
    z, images, n, shared = drawn(seed, inverse_tau)
    fast, slow = z.clone().requires_grad_(), z.clone().requires_grad_()
    scores = Scores(
        anchors=fast if shared else fast[:n],
        candidates=fast,
        anchor_identity=images[:n],
        candidate_identity=images,
        itself=0,
        shared=shared,
        bound=inverse_tau,
    )
    rows = softmax.summary(slow[:n], slow, images[:n], images, itself=0)
    return fast, scores, slow, rows


def compare(loss, expected, seed, tau):
    fast, scores, slow, rows = both(seed, 1 / tau)
    terms = loss.build(1 / tau)(scores)
    assert_same(fast, terms.total / terms.count, slow, expected(rows))


@CASES
@given(seeds, taus, st.sampled_from([0.2, 0.5, 2.0]))
def test_dclw_equals_the_loops(seed, tau, sigma):
    def expected(rows):
        return reference.dclw(rows, sigma=sigma, inverse_tau=1 / tau)

    compare(WeightedPositives(sigma=sigma), expected, seed, tau)


@CASES
@given(seeds, taus, st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.sampled_from([0.0, 0.1, 0.4]))
def test_hard_negatives_equal_the_loops(seed, tau, beta, prior):
    def expected(rows):
        return reference.hard_negatives(rows, beta=beta, prior=prior, inverse_tau=1 / tau)

    compare(HardNegatives(beta=beta, prior=prior), expected, seed, tau)


@CASES
@given(seeds, taus)
def test_the_sigmoid_loss_equals_the_loops(seed, tau):
    compare(Sigmoid(), reference.sigmoid, seed, tau)


@CASES
@given(seeds, taus)
def test_the_spectral_loss_equals_the_loops(seed, tau):
    compare(Spectral(), lambda rows: reference.spectral(rows, mu=1 / tau), seed, tau)


@CASES
@given(seeds, taus)
def test_nearest_entropy_equals_the_loops(seed, tau):
    def expected(rows):
        inside = reference.nearest_entropy(rows, inverse_tau=1 / tau)
        switches = {"numerator": "each", "denominator": "own", "average": "anchors"}
        return losses.nce(rows, **switches) + 30 * inside

    compare(NearestEntropy(of=NCE()), expected, seed, tau)


@CASES
@given(
    seeds,
    st.sampled_from([(0, 1), (0, 1, 2, 3), (0, 0, 1), (2, 5, 2, 2)]),  # images, then classes
    st.sampled_from([2.0, 1.0, 3.0]),
    st.sampled_from([2.0, 1.0]),
)
def test_alignment_and_uniformity_equal_the_loops(seed, labels, alpha, t):
    count = len(labels)
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(2 * count, 2, generator=generator, dtype=torch.float64)
    z = z / z.norm(dim=1, keepdim=True)
    fast, slow = z.clone().requires_grad_(), z.clone().requires_grad_()
    images = torch.tensor(labels).repeat(2)
    scores = Scores(
        anchors=fast, candidates=fast, anchor_identity=images, candidate_identity=images,
        itself=0, shared=True, bound=1.0, anchor_views=(count, count),
        candidate_views=((count, count),),
    )  # fmt: skip
    terms = AlignmentUniformity(alpha=alpha, t=t).build(1.0)(scores)
    first, second = slow[:count], slow[count:]
    expected = reference.alignment_uniformity(first, second, labels, alpha=alpha, t=t)
    torch.testing.assert_close(terms.total / terms.count, expected, rtol=1e-12, atol=1e-12)
    for z, loss in ((fast, terms.total), (slow, expected)):
        loss.backward()
        # The fast one takes vectors for unit vectors: compare what a change of angle does.
        z.grad -= (z.grad * z.detach()).sum(dim=1, keepdim=True) * z.detach()
    torch.testing.assert_close(fast.grad, slow.grad, rtol=1e-10, atol=1e-11)


EVERY = [
    WeightedPositives(),
    HardNegatives(),
    HardNegatives(beta=0.0),
    Sigmoid(),
    Spectral(),
    NearestEntropy(of=NCE()),
]


@pytest.mark.parametrize("loss", EVERY, ids=str)
@pytest.mark.parametrize("quiet", [False, True])
def test_rows_and_lists_give_the_same(loss, quiet, monkeypatch):
    """Many positives are not listed; candidates may be nobody's negatives."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(3, (60,), generator=generator)
    keys = torch.randn(80, 5, dtype=torch.float64, generator=generator)
    found = []
    monkeypatch.setattr(module, "AREA", 80 * 16)  # several blocks, the last not full
    for limit in (0, 10**6):
        monkeypatch.setattr(module, "PAIRS", limit)
        z = torch.nn.functional.normalize(keys, dim=1).requires_grad_()
        scores = Scores(
            anchors=2 * z[:60],
            candidates=z,
            anchor_identity=-2 - labels if quiet else labels,
            candidate_identity=torch.cat([-2 - labels if quiet else labels, torch.full((20,), -1)]),
            itself=None if quiet else 0,
            bound=2.0,
        )
        assert module.crowded(scores) == (limit == 0)
        terms = loss.build(2.0)(scores)
        (gradient,) = torch.autograd.grad(terms.total, z)
        found.append((terms.total.detach(), terms.count, gradient))
    for rows, lists in zip(*found, strict=True):
        torch.testing.assert_close(rows, lists, atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("loss", EVERY, ids=str)
def test_an_anchor_without_negatives_or_positives_is_finite(loss):
    _, scores, _, _ = both(0, 2.0)
    same = torch.zeros_like(scores.candidate_identity)
    for anchors, candidates in ((same[: len(scores.anchors)], same), (same[:1] + 9, same)):
        z = scores.candidates.detach().clone().requires_grad_()
        given = replace(
            scores,
            anchors=z[: len(anchors)],
            candidates=z,
            anchor_identity=anchors,
            candidate_identity=candidates,
            itself=0 if anchors[0] == 0 else None,
            shared=False,
        )
        terms = loss.build(2.0)(given)
        terms.total.backward()
        assert terms.total.isfinite()
        assert z.grad.isfinite().all()


@pytest.mark.parametrize("loss", [*EVERY, *SWITCHES, Triplet()], ids=str)
@pytest.mark.parametrize("limit", [0, 10**6], ids=["rows", "lists"])
def test_keys_before_the_queue_has_any_are_finite(loss, limit, monkeypatch):
    """In the first step of a queue there are only positives, which are nobody's negatives."""
    monkeypatch.setattr(module, "PAIRS", limit)
    keys = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    z = torch.nn.functional.normalize(keys, dim=1).requires_grad_()
    images = -2 - torch.arange(2).repeat_interleave(2)
    scores = Scores(
        anchors=z[:4], candidates=z[4:], anchor_identity=images, candidate_identity=images,
        bound=1.0,
    )  # fmt: skip
    terms = loss.build(1.0)(scores)
    terms.total.backward()
    assert terms.total.isfinite()
    assert terms.count > 0
    assert z.grad.isfinite().all()


def test_large_scores_do_not_overflow():
    """Cosines over 0.002 reach 500, where exp overflows in float32."""
    z = torch.nn.functional.normalize(torch.randn(8, 4), dim=1) * 500**0.5
    z.requires_grad_()
    images = torch.arange(4).repeat(2)
    scores = Scores(
        anchors=z, candidates=z, anchor_identity=images, candidate_identity=images,
        itself=0, shared=True, bound=500.0,
    )  # fmt: skip
    for loss in EVERY:
        terms = loss.build(500.0)(scores)
        (gradient,) = torch.autograd.grad(terms.total, z)
        assert terms.total.isfinite(), loss
        assert gradient.isfinite().all(), loss


@pytest.mark.parametrize(
    ("loss", "bound", "needs"),
    [
        (WeightedPositives(), None, "a cosine over a constant tau"),
        (HardNegatives(), None, "a cosine over a constant tau"),
        (NearestEntropy(of=NCE()), None, "a cosine over a constant tau"),
        (Spectral(), None, "vectors of bounded length"),
        (AlignmentUniformity(), 2.0, "a plain cosine"),
    ],
)
def test_what_a_loss_cannot_take_is_refused(loss, bound, needs):
    with pytest.raises(PartError, match=needs):
        loss.build(bound)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WeightedPositives(sigma=0.0),
        lambda: HardNegatives(prior=1.0),
        lambda: HardNegatives(beta=-1.0),
        lambda: AlignmentUniformity(t=0.0),
        lambda: NearestEntropy(of=NCE(average="positives")),
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(PartError, match="loss: got"):
        wrong()
