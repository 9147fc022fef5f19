"""Anchors by their nearest of earlier vectors, labels in linear memory, a bank of one view."""

import copy
import os
import subprocess
import sys

import pytest
import torch

from counterpoint.framework import ALONE, PartError, Samples, contrast
from counterpoint.parts.extraction import Bank, Compare, NearestAnchors
from counterpoint.parts.extraction.nearest_anchors import nearest_row
from counterpoint.parts.similarity import CyclicTau, PredictedCosine, ScaledDot
from toy import tiny_batch, tiny_method


@pytest.fixture
def model():
    torch.manual_seed(0)
    method = tiny_method(
        extraction=NearestAnchors(of=Compare.parse("(-1:-1)"), size=10),
        similarity=PredictedCosine(hidden=6, tau=0.2, side="candidate"),
    )
    return method.build(image=(3, 8, 8)).double()


def step(model, seed):
    views, index = tiny_batch(4, seed=seed)
    return contrast(model, views, index)


def test_the_search_in_blocks_finds_the_nearest_of_all(monkeypatch):
    vectors, rows = torch.randn(7, 5), torch.randn(50, 5)
    monkeypatch.setattr("counterpoint.parts.extraction.nearest_anchors.AREA", 7 * 8)
    assert torch.equal(nearest_row(vectors, rows), (vectors @ rows.T).argmax(dim=1))


def test_the_support_set_rests_at_evaluation_and_is_in_the_state(model):
    step(model, 0)
    assert model.state_dict()["extraction.written"].item() == 4
    model.eval()
    step(model, 1)
    assert model.extraction.written.item() == 4


def test_a_loaded_support_set_continues_where_it_was(model):
    fresh = copy.deepcopy(model)
    for seed in range(3):
        step(model, seed)
    fresh.load_state_dict(model.state_dict())
    assert torch.equal(step(fresh, 3), step(model, 3))
    assert torch.equal(fresh.extraction.support, model.extraction.support)
    assert fresh.extraction.written == 16


def test_no_gradient_flows_into_a_neighbour(model):
    step(model, 0)
    views, index = tiny_batch(4, seed=1)
    encoded = model.encode(views)
    found = model.extraction(encoded, Samples(index), ALONE)
    assert all(not one.anchors.requires_grad and one.candidates.requires_grad for one in found)


def test_a_bank_of_three_views_is_refused():
    with pytest.raises(PartError, match=r"3 views.*one or two"):
        Bank(samples=5).build((((4, 1, 1),),) * 3)


def test_a_cyclic_tau_around_clipped_scores_is_refused():
    with pytest.raises(PartError, match=r"clipped.*clip=None"):
        tiny_method(similarity=CyclicTau(of=ScaledDot())).build(image=(3, 8, 8))
    with pytest.raises(PartError, match=r"lowest=0\.5, highest=0\.1"):
        CyclicTau(of=ScaledDot(clip=None), lowest=0.5, highest=0.1)


MEMORY = """
import resource, torch
from counterpoint.framework import Scores
from counterpoint.parts.losses import NCE
def loss(count):
    z = torch.nn.functional.normalize(torch.randn(count, 8), dim=1).requires_grad_()
    label = torch.randint(10, (count,))
    scores = Scores(anchors=10 * z, candidates=z, anchor_identity=label, candidate_identity=label,
                    itself=0, bound=10.0)
    terms = NCE(denominator="all")(scores)
    (terms.total / terms.count).backward()
loss(2_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loss(8_000)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_labels_take_memory_that_is_linear_in_the_batch():
    """The 8,000 x 8,000 scores alone would be 256 MB.

    What is held is measured: glibc gives back what is freed, which it otherwise keeps for later.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, env=environment
    )
    assert float(done.stdout) < 50
