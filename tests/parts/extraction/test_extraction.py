"""Which vectors become anchors and candidates, and what a queue adds."""

import copy
from dataclasses import replace

import pytest
import torch

from counterpoint.framework import ALONE, Encoded, Model, PartError, Samples, contrast
from counterpoint.framework.records import NOBODY
from counterpoint.parts.encoders import MomentumEncoder
from counterpoint.parts.extraction import Pooled, Queue
from counterpoint.parts.extraction.pooled import pool_map
from counterpoint.parts.losses.softmax import summarise
from counterpoint.parts.similarity import Cosine
from toy import tiny_batch, tiny_method


def maps(seed, count=3):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(count, 4, 2, 2, generator=generator),)


def test_every_view_is_an_anchor_and_the_others_are_its_positives():
    views = (maps(0), maps(1), maps(2))
    index = torch.tensor([7, 8, 9])
    (c,) = Pooled()(Encoded(views, views), Samples(index), ALONE)
    assert c.anchors is c.candidates
    assert c.itself == 0
    assert c.anchor_identity.tolist() == [7, 8, 9] * 3
    torch.testing.assert_close(c.anchors[3:6], views[1][0].mean(dim=(2, 3)))


def test_with_a_twin_the_candidates_are_the_twins():
    online, target = (maps(0), maps(1)), (maps(2), maps(3))
    (c,) = Pooled(pool="max")(Encoded(online, target), Samples(torch.arange(3)), ALONE)
    torch.testing.assert_close(c.anchors[:3], online[0][0].amax(dim=(2, 3)))
    torch.testing.assert_close(c.candidates[3:], target[1][0].amax(dim=(2, 3)))
    assert c.itself == 0  # the twin's vector of the same view is left out


def test_pooling():
    features = torch.arange(8.0).view(1, 2, 2, 2)
    assert pool_map(features, "mean").tolist() == [[1.5, 5.5]]
    assert pool_map(features, "max").tolist() == [[3.0, 7.0]]
    assert pool_map(features, "flatten").shape == (1, 8)


@pytest.fixture
def queued():
    method = tiny_method(
        encoder=MomentumEncoder(of=tiny_method().encoder, decay=0.9),
        extraction=Queue(of=Pooled(), size=20),
        similarity=Cosine(tau=0.2),
    )
    torch.manual_seed(0)
    return method.build(image=(3, 8, 8)).double()


def candidates_of(model, seed):
    views, index = tiny_batch(4, seed=seed)
    (comparison,) = model.extraction(model.encode(views), Samples(index), ALONE)
    return comparison


def test_the_queue_fills_and_its_keys_are_nobodys(queued):
    sizes = [len(candidates_of(queued, seed).remembered.vectors) for seed in range(5)]
    assert sizes == [0, 8, 16, 20, 20]  # 8 keys a step, and 20 at most
    last = candidates_of(queued, 9)
    assert (last.remembered.identity == NOBODY).all()
    assert (last.candidate_identity == last.anchor_identity).all()
    scores = queued.similarity(last, ALONE)
    assert len(scores.candidates) == len(scores.candidate_identity) == 28


def test_a_key_is_not_a_negative_in_its_own_step(queued):
    first, second = candidates_of(queued, 0), candidates_of(queued, 1)
    old = second.remembered.vectors
    torch.testing.assert_close(old, first.candidates)
    assert not (old[:, None] == second.candidates).all(dim=2).any()


def test_the_oldest_keys_are_written_over(queued):
    seen = [candidates_of(queued, seed).candidates[:8] for seed in range(4)]
    expected = torch.cat(seen)[-20:]
    kept = queued.extraction.keys
    for key in expected:
        assert (kept == key).all(dim=1).any()


def test_the_queue_is_in_the_state_and_rests_at_evaluation(queued):
    candidates_of(queued, 0)
    assert queued.state_dict()["extraction.written"].item() == 8
    queued.eval()
    candidates_of(queued, 1)
    assert queued.extraction.written.item() == 8


def test_a_loaded_queue_goes_on_where_it_was(queued):
    fresh = copy.deepcopy(queued)
    candidates_of(queued, 0)
    fresh.load_state_dict(queued.state_dict())
    for model in (queued, fresh):
        assert len(candidates_of(model, 1).remembered.vectors) == 8
    assert fresh.extraction.written == queued.extraction.written == 16
    assert torch.equal(fresh.extraction.keys, queued.extraction.keys)


def test_a_similarity_that_forgets_the_queue_is_refused(queued):
    class Forgetful(torch.nn.Module):
        bound = None

        def forward(self, comparison, world):
            return queued.similarity(replace(comparison, remembered=None), world)

    views, index = tiny_batch(4)
    queued(views, index)
    model = Model(queued.views, queued.encoder, queued.extraction, Forgetful(), queued.loss)
    with pytest.raises(PartError, match="8 candidates and 8 remembered ones"):
        contrast(model, views, index)


def test_a_queue_trains(queued):
    losses = []
    for seed in range(3):
        views, index = tiny_batch(4, seed=seed)
        losses.append(queued(views, index))
    losses[-1].backward()
    assert all(p.grad is not None for p in queued.encoder.online.parameters())
    assert all(p.grad is None for p in queued.encoder.twin.parameters())
    scores = queued.similarity(candidates_of(queued, 8), ALONE)
    assert summarise(scores).negative.isfinite().all()
