"""Which similarity and which wrapper fit a loss, and losses of a batch without negatives."""

import pytest
import torch

from counterpoint.framework import ALONE, PartError, Scores, contrast
from counterpoint.methods import simclr
from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet
from counterpoint.parts.extraction import ByLabel, NearestAnchors, Pooled, Queue, StopGradient
from counterpoint.parts.losses import (
    NCE,
    AlignmentUniformity,
    BarlowTwins,
    HardNegatives,
    NearestEntropy,
    Penalised,
    Regression,
    VICReg,
    WeightedPositives,
)
from counterpoint.parts.similarity import BallDot, Cosine, CyclicTau, Dot, ScaledDot
from counterpoint.parts.views import HorizontalFlip, Pipeline

SMALL = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
ANGLES = (
    HardNegatives(),
    WeightedPositives(),
    NearestEntropy(of=NCE()),
    Penalised(of=HardNegatives()),
)
OTHERS = (ScaledDot(clip=20.0), BallDot(mu=1.0), CyclicTau(of=Cosine(tau=1.0)))


@pytest.mark.parametrize("wrapper", [Penalised, NearestEntropy])
def test_what_is_added_to_a_loss_of_the_batch_is_a_mean(wrapper):
    """A sum over anchors would grow with the batch, and with the number of ranks."""
    z = torch.nn.functional.normalize(torch.randn(12, 3, dtype=torch.float64), dim=1)
    whose = torch.arange(6).repeat(2)
    scores = Scores(
        anchors=z,
        candidates=z,
        anchor_identity=whose,
        candidate_identity=whose,
        itself=0,
        shared=True,
        anchor_views=(6, 6),
        candidate_views=((6, 6),),
        bound=1.0,
    )
    more = []
    for loss in (NCE(), AlignmentUniformity()):
        plain, wrapped = (one.build(1.0)(scores, ALONE) for one in (loss, wrapper(of=loss)))
        more.append((wrapped.total - plain.total) / plain.count)
    torch.testing.assert_close(*more)


@pytest.mark.parametrize("loss", ANGLES)
@pytest.mark.parametrize("similarity", OTHERS)
def test_a_loss_of_the_angle_needs_a_cosine_over_a_constant_tau(loss, similarity):
    with pytest.raises(PartError, match="not a cosine over a constant tau"):
        SMALL.swap(similarity=similarity, loss=loss).build(image=(3, 16, 16))
    SMALL.swap(similarity=Cosine(tau=0.5), loss=loss).build(image=(3, 16, 16))


@pytest.mark.parametrize("loss", [Regression(), AlignmentUniformity()])
def test_a_product_of_short_vectors_is_no_distance_on_the_sphere(loss):
    with pytest.raises(PartError, match="not a cosine over a constant tau"):
        SMALL.swap(similarity=BallDot(mu=1.0), loss=loss).build(image=(3, 16, 16))


@pytest.mark.parametrize("loss", [VICReg(), BarlowTwins()])
def test_constant_anchors_are_refused_where_nothing_else_is_read(loss):
    part = NearestAnchors(of=Pooled())
    with pytest.raises(PartError, match="anchors that train the encoder"):
        SMALL.swap(extraction=part, similarity=Dot(), loss=loss).build(image=(3, 16, 16))


@pytest.mark.parametrize("loss", [VICReg(), BarlowTwins()])
@pytest.mark.parametrize("ground", [torch.no_grad, torch.inference_mode])
def test_built_without_gradients_nothing_is_constant_by_mistake(loss, ground):
    with ground():
        SMALL.swap(similarity=Dot(), loss=loss).build(image=(3, 16, 16))


@pytest.mark.parametrize(
    ("similarity", "loss"), [(Cosine(tau=1.0), AlignmentUniformity()), (Dot(), VICReg())]
)
def test_one_image_has_a_finite_loss_and_gradient(similarity, loss):
    model = SMALL.swap(similarity=similarity, loss=loss).build(image=(3, 16, 16))
    found = contrast(model, (torch.randn(1, 3, 16, 16), torch.randn(1, 3, 16, 16)), torch.arange(1))
    found.backward()
    assert found.isfinite()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in model.parameters())


def test_images_of_one_label_have_a_finite_uniformity():
    z = torch.nn.functional.normalize(torch.randn(4, 3), dim=1).requires_grad_()
    same = torch.zeros(4, dtype=torch.int64)
    scores = Scores(
        anchors=z,
        candidates=z,
        anchor_identity=same,
        candidate_identity=same,
        itself=0,
        shared=True,
        anchor_views=(2, 2),
        candidate_views=((2, 2),),
    )
    terms = AlignmentUniformity().build(1.0)(scores, ALONE)
    terms.total.backward()
    assert terms.total.isfinite()
    assert bool(z.grad.isfinite().all())


def test_uniformity_needs_the_same_views_on_both_sides():
    twin = MomentumEncoder(of=NarrowResNet(widths=(8,), blocks=(1,)), targets=2)
    method = SMALL.swap(
        views=Pipeline((HorizontalFlip(),), views=6),
        encoder=twin,
        similarity=Cosine(tau=1.0),
        loss=AlignmentUniformity(),
    )
    model = method.build(image=(3, 16, 16))
    with pytest.raises(PartError, match="uniformity is within a view"):
        contrast(model, (torch.randn(3, 3, 16, 16),) * 6, torch.arange(3))


def test_a_queue_of_labels_is_refused():
    with pytest.raises(PartError, match="keys of earlier steps have none"):
        Queue(of=StopGradient(of=ByLabel()), size=8)
