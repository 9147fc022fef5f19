"""Every loss and every switch against the loops, and values known beforehand."""

import math
from dataclasses import replace

import pytest
import torch

from counterpoint.framework import ALONE, Comparison, PartError, Scores
from counterpoint.parts.losses import NCE, Penalised, Regression, Triplet
from counterpoint.parts.similarity import Cosine
from reference import losses as reference
from reference import softmax

SWITCHES = [
    NCE(numerator=n, denominator=d, average=a)
    for n, d, a in (
        ("each", "own", "anchors"),
        ("each", "own", "positives"),
        ("each", "all", "anchors"),
        ("each", "all", "positives"),
        ("each", "negatives", "anchors"),
        ("each", "negatives", "positives"),
        ("sum", "all", "anchors"),
        ("sum", "negatives", "anchors"),
    )
]


def ragged(seed, scale=1.0):
    """Seven anchors among ten candidates: one without a positive, others with up to three."""
    generator = torch.Generator().manual_seed(seed)
    z = scale * torch.randn(10, 4, generator=generator, dtype=torch.float64)
    images = torch.tensor([0, 1, 0, 2, 1, 3, 0, 0, 5, 5])
    return z.requires_grad_(), images


def rows_and_scores(seed, scale=1.0):
    fast, images = ragged(seed, scale)
    slow, _ = ragged(seed, scale)
    scores = Scores(
        anchors=fast[:7],
        candidates=fast,
        anchor_identity=images[:7],
        candidate_identity=images,
        itself=0,
    )
    rows = softmax.summary(slow[:7], slow, images[:7], images, itself=0)
    return fast, scores, slow, rows


def assert_same(fast, loss, slow, expected):
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(fast.grad, slow.grad, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("nce", SWITCHES, ids=str)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_nce_equals_the_loops(nce, seed, scale):
    fast, scores, slow, rows = rows_and_scores(seed, scale)
    terms = nce.build(None)(scores)
    expected = reference.nce(
        rows, numerator=nce.numerator, denominator=nce.denominator, average=nce.average
    )
    assert_same(fast, terms.total / terms.count, slow, expected)


@pytest.mark.parametrize("nce", SWITCHES, ids=str)
def test_nce_of_anchors_without_negatives_equals_the_loops(nce):
    fast, scores, slow, _ = rows_and_scores(0)
    same = torch.zeros(10, dtype=torch.int64)
    alike = replace(scores, anchor_identity=same[:7], candidate_identity=same)
    terms = nce.build(None)(alike)
    rows = softmax.summary(slow[:7], slow, same[:7], same, itself=0)
    expected = reference.nce(
        rows, numerator=nce.numerator, denominator=nce.denominator, average=nce.average
    )
    if nce.denominator == "negatives":
        assert terms.total == expected == 0
    else:
        assert_same(fast, terms.total / terms.count, slow, expected)


@pytest.mark.parametrize("seed", range(5))
def test_triplet_equals_the_loops(seed):
    fast, scores, slow, rows = rows_and_scores(seed)
    terms = Triplet(margin=2.0)(scores)
    assert_same(fast, terms.total / terms.count, slow, reference.triplet(rows, margin=2.0))


@pytest.mark.parametrize("seed", range(5))
def test_regression_equals_the_loops(seed):
    fast, scores, slow, rows = rows_and_scores(seed)
    terms = Regression()(scores)
    assert_same(fast, terms.total / terms.count, slow, reference.regression(rows))


def test_a_penalty_needs_a_mean_over_anchors():
    with pytest.raises(PartError, match="a mean over anchors, as the penalty is"):
        Penalised(of=NCE(average="positives"))


@pytest.mark.parametrize("tau", [1.0, 0.5, 0.1, 0.01])
def test_cosine_and_nce_compose_to_nt_xent(tau):
    torch.manual_seed(0)
    first, second = torch.randn(2, 7, 5, dtype=torch.float64)
    z, images = torch.cat([first, second]), torch.arange(7).repeat(2)
    comparison = Comparison(
        anchors=z, candidates=z, anchor_identity=images, candidate_identity=images, itself=0
    )
    terms = NCE()(Cosine(tau=tau).build(5, 5)(comparison, ALONE))
    expected = reference.nt_xent(first, second, tau)
    torch.testing.assert_close(terms.total / terms.count, expected, rtol=1e-12, atol=1e-12)


def plain(scores):
    """Scores of one anchor given as numbers: the anchor is the unit vector of one channel."""
    candidates = torch.tensor(scores, dtype=torch.float64)[:, None]
    return {"anchors": torch.ones(1, 1, dtype=torch.float64), "candidates": candidates}


def test_values_worked_out_by_hand():
    two = Scores(
        **plain([math.log(3.0), math.log(2.0), 0.0, 0.0]),
        anchor_identity=torch.tensor([1]),
        candidate_identity=torch.tensor([1, 1, 7, 8]),
    )  # positives 3 and 2, negatives 1 + 1
    expected = {
        ("each", "own"): (math.log(5 / 3) + math.log(4 / 2)) / 2,
        ("each", "all"): (math.log(7 / 3) + math.log(7 / 2)) / 2,
        ("each", "negatives"): (math.log(2 / 3) + math.log(2 / 2)) / 2,
        ("sum", "all"): math.log(7 / 5),
        ("sum", "negatives"): math.log(2 / 5),
    }
    for (numerator, denominator), value in expected.items():
        terms = NCE(numerator=numerator, denominator=denominator)(two)
        assert terms.total.item() / terms.count.item() == pytest.approx(value, abs=1e-12)


def test_equal_scores_cost_the_log_of_the_number_of_candidates():
    z, images = torch.ones(16, 3), torch.arange(8).repeat(2)
    terms = NCE()(
        Scores(
            anchors=z,
            candidates=z,
            anchor_identity=images,
            candidate_identity=images,
            itself=0,
            shared=True,
        )
    )
    assert (terms.total / terms.count).item() == pytest.approx(math.log(15), abs=1e-6)


def test_an_anchor_without_a_positive_does_not_count():
    lonely = Scores(
        **plain([0.0, 0.0]),
        anchor_identity=torch.tensor([1]),
        candidate_identity=torch.tensor([2, 3]),
    )
    for loss in (NCE(), NCE(average="positives"), Triplet(), Regression()):
        terms = loss(lonely)
        assert terms.total.item() == 0
        assert terms.count.item() == 0
