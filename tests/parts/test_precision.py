"""Under autocast to bf16, scores, losses and penalties are as near to float64 as fp32 is."""

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch

from counterpoint.framework import ALONE, Comparison, Terms, contrast
from counterpoint.parts.losses import NCE, Penalised, Regression, Triplet
from counterpoint.parts.losses.penalised import mean_squares
from counterpoint.parts.losses.softmax import hardest, positives, summarise
from counterpoint.parts.similarity import (
    Bilinear,
    Cosine,
    Dot,
    PredictedCosine,
    ProjectedCosine,
    ScaledDot,
)
from toy import tiny_batch, tiny_method

WIDTH = 32
FP32 = 2e-6  # of the largest score, as in tests/parts/losses/test_softmax.py; bf16 has 4e-3
PLAIN = (Dot(), ScaledDot(), ScaledDot(clip=None), Cosine(tau=0.07), Cosine(tau=1.0))
LEARNED = (Bilinear(), ProjectedCosine(), PredictedCosine(hidden=8), Cosine(learn_tau=True))
LOSSES = (
    NCE(),
    NCE(denominator="all"),
    NCE(numerator="sum", denominator="negatives"),
    NCE(average="positives"),
    Triplet(),
    Penalised(of=NCE()),
)
PAIRS = [
    *itertools.product([*PLAIN, *LEARNED], LOSSES),
    *itertools.product([Cosine(tau=1.0), PredictedCosine(hidden=8)], [Regression()]),
]


def comparison(*, shared, dtype=torch.float32):
    """Anchors whose positives are near: where bf16 loses the difference of cosines."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(48, WIDTH, generator=generator)
    near = z + 0.02 * torch.randn(48, WIDTH, generator=generator)
    both, images = torch.cat([z, near]).to(dtype), torch.arange(48).repeat(2)
    if shared:
        given = {"anchors": both, "candidates": both, "anchor_identity": images, "itself": 0}
    else:
        given = {"anchors": z.to(dtype), "candidates": both, "anchor_identity": images[:48]}
    return Comparison(candidate_identity=images, **given)


def exact(scores):
    """The same factors in float64, without autocast."""
    anchors = scores.anchors.double()
    same = scores.anchors is scores.candidates
    candidates = anchors if same else scores.candidates.double()
    return replace(scores, anchors=anchors, candidates=candidates)


def apart(found, right):
    right = right.double()
    finite = right.isfinite()
    assert torch.equal(found.isfinite(), finite)
    return ((found - right)[finite].abs().max() / right[finite].abs().max()).item()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("similarity", "loss"), PAIRS, ids=str)
def test_losses_of_every_similarity(similarity, loss, shared):
    torch.manual_seed(0)
    phi = similarity.build(WIDTH, WIDTH)
    built = loss.build(phi.bound)
    with torch.autocast("cpu", torch.bfloat16):
        scores = phi(comparison(shared=shared), ALONE)
        terms = built(scores)
    assert scores.anchors.dtype == scores.candidates.dtype == torch.float32
    assert terms.total.dtype == torch.float32
    right = built(exact(scores))
    largest = max(1.0, (exact(scores).anchors @ exact(scores).candidates.T).abs().max().item())
    mean, known = terms.total / terms.count, right.total / right.count
    assert abs(mean.item() - known.item()) < FP32 * max(largest, abs(known.item()))


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("similarity", PLAIN, ids=str)
def test_scores_without_a_head(similarity, half):
    """Half-precision features are rounded once, by the encoder, and not again."""
    given = comparison(shared=False, dtype=torch.bfloat16 if half else torch.float32)
    phi = similarity.build(WIDTH, WIDTH)
    with torch.autocast("cpu", torch.bfloat16):
        scores = phi(given, ALONE)
        found = positives(scores).positive, summarise(scores).negative, hardest(scores).negative
    wide = replace(given, anchors=given.anchors.double(), candidates=given.candidates.double())
    known = phi(wide, ALONE)
    right = positives(known).positive, summarise(known).negative, hardest(known).negative
    assert all(apart(f, r) < FP32 for f, r in zip(found, right, strict=True))
    assert summarise(scores).positive.dtype == torch.float32


def test_the_penalty_alone():
    a, c = comparison(shared=False).anchors, comparison(shared=False).candidates
    with torch.autocast("cpu", torch.bfloat16):
        found = mean_squares(a, c)
    assert found.dtype == torch.float32
    assert apart(found[None], mean_squares(a.double(), c.double())[None]) < FP32


@dataclass(frozen=True)
class Dense:
    """A loss of somebody's own, which multiplies matrices."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = True

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        product = scores.anchors @ scores.candidates.T
        assert product.dtype == torch.float32
        return Terms(product.sum(), product.new_tensor(len(product)))


def test_a_loss_of_ones_own_is_not_in_half_precision_either():
    model = tiny_method(similarity=Cosine(tau=0.2), loss=Dense()).build(image=(3, 8, 8))
    views, index = tiny_batch(6)
    views = tuple(view.float() for view in views)
    with torch.autocast("cpu", torch.bfloat16):
        assert model.encode(views).online[0][-1].dtype == torch.bfloat16
        loss = contrast(model, views, index)
    assert loss.dtype == torch.float32
    loss.backward()
