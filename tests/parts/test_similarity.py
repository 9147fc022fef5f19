"""Every similarity against the loops, and how candidates are shared and gathered."""

import pytest
import torch

from counterpoint.framework import ALONE, Comparison, Gathered
from counterpoint.parts.similarity import (
    BallDot,
    Biased,
    Bilinear,
    Cosine,
    Dot,
    ProjectedCosine,
    ScaledDot,
)
from reference import losses as reference

WIDTH = 5


def comparison(anchors, candidates, itself=None):
    return Comparison(
        anchors=anchors,
        candidates=candidates,
        anchor_identity=torch.arange(len(anchors)),
        candidate_identity=torch.arange(len(candidates)),
        itself=itself,
    )


def matrix(scores):
    """The n x m scores, which only a test ever holds."""
    s = scores.anchors @ scores.candidates.T
    return s if scores.clip is None else scores.clip * torch.tanh(s / scores.clip)


def vectors(count, width=WIDTH, seed=0):
    return torch.randn(
        count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


CASES = {
    "dot": (Dot(), lambda a, b, _: reference.dot(a, b)),
    "cosine": (Cosine(tau=0.1), lambda a, b, _: reference.cosine(a, b) / 0.1),
    "learned": (Cosine(tau=0.1, learn_tau=True), lambda a, b, _: reference.cosine(a, b) / 0.1),
    "scaled dot": (ScaledDot(clip=None), lambda a, b, _: reference.scaled_dot(a, b, None)),
    "clipped dot": (ScaledDot(clip=0.7), lambda a, b, _: reference.scaled_dot(a, b, 0.7)),
    "in a ball": (
        BallDot(mu=2.0),
        lambda a, b, _: reference.dot(reference.shortened(a, 2.0), reference.shortened(b, 2.0)),
    ),
    "biased": (
        Biased(of=Cosine(tau=0.1), bias=-3.0),
        lambda a, b, _: reference.cosine(a, b) / 0.1 - 3.0,
    ),
    "bilinear": (Bilinear(), lambda a, b, phi: reference.bilinear(a, b, phi.p.weight)),
    "projected": (
        ProjectedCosine(hidden=7, out=3, tau=0.2),
        lambda a, b, phi: reference.cosine(phi.p[0](a[None])[0], phi.p[0](b[None])[0]) / 0.2,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shared", [True, False])
def test_equals_the_loops(name, shared):
    settings, phi_of = CASES[name]
    torch.manual_seed(0)
    phi = settings.build(WIDTH, WIDTH).double().eval()  # eval: batch norm acts on single vectors
    a = vectors(4)
    b = a if shared else vectors(6, seed=1)
    found = matrix(phi(comparison(a, b, itself=0 if shared else None), ALONE))
    expected = torch.stack([torch.stack([phi_of(x, y, phi) for y in b]) for x in a])
    # float32 temperature: its log is what is learned
    tolerance = 1e-6 if name == "learned" else 1e-12
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("settings", "bound"),
    [
        (Cosine(tau=0.25), 4.0),
        (ProjectedCosine(tau=0.5), 2.0),
        (ScaledDot(clip=20.0), 20.0),
        (BallDot(mu=2.0), 2.0),
        (Biased(of=Cosine(tau=0.25)), None),
        (Dot(), None),
        (Cosine(tau=0.25, learn_tau=True), None),
    ],
)
def test_the_bound_is_known_and_holds(settings, bound):
    phi = settings.build(WIDTH, WIDTH)
    assert phi.bound == bound
    if bound is not None:
        scores = matrix(phi(comparison(100 * vectors(9).float(), vectors(8).float()), ALONE))
        assert scores.abs().max().item() <= bound * (1 + 1e-6)


def test_the_head_runs_once_when_anchors_are_the_candidates():
    phi = ProjectedCosine().build(WIDTH, WIDTH)
    calls = []
    phi.p.register_forward_hook(lambda *_: calls.append(1))
    z = vectors(4).float()
    scores = phi(comparison(z, z, itself=0), ALONE)
    assert len(calls) == 1
    assert scores.shared
    phi(comparison(z, z.clone(), itself=0), ALONE)
    assert len(calls) == 3


def test_what_is_gathered_is_the_small_projected_vector():
    class Spy:
        rank = 0

        size = 1

        def images(self, own):
            return (own,)

        def everyone(self, identify):
            return None

        def gather(self, vectors, identity, everyone=None):
            self.width = vectors.shape[1]
            return Gathered(vectors, identity, 0)

        def slices(self, vectors, everyone):
            return None

        def total(self, count):
            return count

        def sum(self, values):
            return values

    spy = Spy()
    z = torch.randn(4, 512)
    ProjectedCosine(out=16).build(512, 512)(comparison(z, z, itself=0), spy)
    assert spy.width == 16


def test_the_learned_temperature_receives_a_gradient():
    phi = Cosine(tau=0.3, learn_tau=True).build(WIDTH, WIDTH)
    z = vectors(4).float()
    matrix(phi(comparison(z, z, itself=0), ALONE)).square().sum().backward()
    assert phi.scale.log_tau.grad.abs() > 0


def test_half_precision_is_scored_in_fp32():
    z = vectors(4).bfloat16()
    assert Cosine().build(WIDTH, WIDTH)(comparison(z, z, itself=0), ALONE).anchors.dtype == (
        torch.float32
    )
