"""A loss sees the world, and rows know their view."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch
from torch import nn

from counterpoint.framework import ALONE, Gathered, PartError, Samples, Terms
from counterpoint.parts.encoders import MomentumEncoder
from counterpoint.parts.extraction import Compare
from counterpoint.parts.similarity import Cosine, Dot
from toy import TinyEncoder, tiny_batch, tiny_method


def scores_of(extraction=None, encoder=None, world=ALONE):
    parts = {"extraction": extraction, "encoder": encoder}
    method = tiny_method(similarity=Dot(), **{k: v for k, v in parts.items() if v is not None})
    model = method.build(image=(3, 8, 8)).double()
    views, index = tiny_batch(5)
    encoded = model.encode(views)
    comparison = model.extraction(encoded, Samples(index), world)[0]
    return encoded, model.similarity(comparison, world)


@pytest.mark.parametrize("encoder", [None, MomentumEncoder(of=TinyEncoder(), decay=0.5)])
def test_rows_know_their_view(encoder):
    encoded, scores = scores_of(encoder=encoder)
    for view, anchors, candidates in zip(
        range(2), scores.anchors_by_view(), scores.candidates_by_view(), strict=True
    ):
        assert torch.equal(anchors, encoded.online[view][-1].mean(dim=(2, 3)))
        assert torch.equal(candidates, encoded.target[view][-1].mean(dim=(2, 3)))


def test_candidates_of_several_ranks_are_put_together_by_view():
    rows = torch.arange(10.0)[:, None].expand(-1, 6)
    gathered = Gathered(rows, torch.arange(10), 6, (6, 4))  # ranks of three and two images
    _, scores = scores_of()
    scores = replace(scores, candidates=rows, candidate_views=gathered.views((2, 2)))
    first, second = scores.candidates_by_view()
    assert first[:, 0].tolist() == [0, 1, 2, 6, 7]
    assert second[:, 0].tolist() == [3, 4, 5, 8, 9]


def test_rows_without_a_view_are_refused():
    _, scores = scores_of(Compare.parse("(-1:-1)"))
    with pytest.raises(PartError, match=r"^loss: got rows of which nobody knows the view"):
        scores.anchors_by_view()


@dataclass(frozen=True)
class Before:
    """A loss as they were written before: without the world."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False
    module: bool = False

    def build(self, bound):
        return OldModule() if self.module else self

    def __call__(self, scores):
        return Terms(scores.anchors.sum(), torch.ones(()))


class OldModule(nn.Module):
    needs_negatives = False

    def forward(self, scores):
        return Before()(scores)


@pytest.mark.parametrize("module", [False, True])
def test_a_loss_of_one_argument_is_refused_when_it_is_built(module):
    with pytest.raises(PartError, match=r"^loss: got .*\(scores\), needs .* loss\(scores, world\)"):
        tiny_method(loss=Before(module=module), similarity=Cosine()).build(image=(3, 8, 8))
