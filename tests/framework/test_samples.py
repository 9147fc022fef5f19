"""Parts may ask for labels, for the progress of training, and for a twin of some views."""

import copy
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import nn

from counterpoint.data import ArraySource
from counterpoint.framework import ALONE, PartError, Samples, Terms, contrast, twins
from counterpoint.framework.settings import Training
from counterpoint.methods import byol, moco, simclr
from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet
from counterpoint.parts.extraction import ByLabel, Compare, Keys, Pooled, Queue, StopGradient
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine, Dot, ProjectedCosine
from counterpoint.pretraining import pretrain
from counterpoint.training.pretrainer import Pretrainer
from reference import newer as loops
from toy import TinyEncoder, TinyNet, tiny_batch, tiny_method

SUPERVISED = tiny_method(
    extraction=ByLabel(), similarity=Cosine(tau=0.2), loss=NCE(denominator="all")
)


def built(method):
    torch.manual_seed(2)
    return method.build(image=(3, 8, 8)).double()


@pytest.mark.parametrize("labels", [[0, 1, 1, 2, 0, 1], [0, -1, 1, -1, 1, 1]])
def test_labels_as_identities_are_supervised_contrastive_learning(labels):
    model = built(SUPERVISED)
    views, index = tiny_batch(6)
    found = contrast(model, views, Samples(index, labels=torch.tensor(labels)))
    vectors = [row for maps in model.encoder(views) for row in maps[-1].mean(dim=(2, 3)).tolist()]
    who = [label if label >= 0 else 100 + place for place, label in enumerate(labels)]
    assert abs(found.item() - loops.supervised(vectors, who * 2, 0.2)) < 1e-12


def source(*, labels):
    images = torch.randint(256, (32, 3, 8, 8), dtype=torch.uint8)
    return ArraySource("noise", images, labels=torch.arange(32) % 3 if labels else None)


def test_a_method_that_needs_labels_is_refused_where_there_are_none(tmp_path):
    method = SUPERVISED.swap(encoder=NarrowResNet(widths=(4, 6), blocks=(1, 1)))
    training = Training(batch=8, epochs=1)
    with pytest.raises(ValueError, match=r"^data: noise has no labels, and a part of the method"):
        Pretrainer(method.build(image=(3, 8, 8)), source(labels=False), training, steps=1)
    run = pretrain(method, source(labels=True), out=tmp_path / "run", training=training, steps=2)
    assert run.method.needs_labels


def test_a_part_inside_of_another_may_ask():
    inside = tiny_method(
        encoder=MomentumEncoder(of=TinyEncoder()), extraction=StopGradient(of=ByLabel())
    )
    assert inside.needs_labels
    assert built(inside).needs_labels
    assert not simclr().needs_labels


@dataclass(frozen=True)
class ProgressLoss:
    """A loss that is how far training is."""

    part: ClassVar[str] = "loss"
    needs_negatives: ClassVar[bool] = False

    def build(self, bound):
        return self

    def __call__(self, scores, world):
        value = 0 * scores.anchors.sum() + scores.samples.progress
        return Terms(value, torch.ones_like(value))


def test_a_loss_sees_the_progress_of_training(tmp_path):
    model = built(tiny_method(loss=ProgressLoss()))
    views, index = tiny_batch(3)
    assert contrast(model, views, Samples(index, progress=0.25)).item() == 0.25
    assert contrast(model, views, index).item() == 0.0
    method = simclr(NarrowResNet(widths=(4,), blocks=(1,)), size=32).swap(loss=ProgressLoss())
    images = torch.randint(256, (32, 3, 32, 32), dtype=torch.uint8)
    training = Training(batch=8, epochs=1)
    pretrain(
        method, ArraySource("n", images), out=tmp_path / "run", training=training, health=False
    )
    lines = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    column = lines[0].split(",").index("loss")
    assert [float(line.split(",")[column]) for line in lines[1:]] == [0.0, 0.25, 0.5, 0.75]


@dataclass(frozen=True)
class OldExtraction:
    """As they were written before: the second argument was the index."""

    part: ClassVar[str] = "extraction"

    def build(self, maps):
        return self

    def __call__(self, encoded, index, world):
        from counterpoint.framework import Comparison

        vectors = [maps[-1].mean(dim=(2, 3)) for maps in encoded.online]
        identity = {"anchor_identity": index, "candidate_identity": index}
        return (Comparison(anchors=vectors[0], candidates=vectors[1], **identity),)


def test_an_extraction_that_takes_the_index_is_refused_when_it_is_built():
    with pytest.raises(PartError, match=r"^extraction: got "):
        tiny_method(extraction=OldExtraction()).build(image=(3, 8, 8))


@pytest.mark.parametrize("apart", [False, True])
def test_the_twin_encodes_only_the_views_asked_of_it(apart):
    encoder = MomentumEncoder(of=TinyEncoder(), targets=2, views_apart=apart)
    model = built(tiny_method(encoder=encoder, similarity=Dot()))
    views = tuple(tiny_batch(4, seed=s)[0][0] for s in range(4))
    encoded = model.encode(views)
    assert (len(encoded.online), len(encoded.target)) == (4, 2)
    samples = Samples(torch.arange(4))
    same, rest = Pooled()(encoded, samples, ALONE)
    assert (len(same.anchors), len(rest.anchors), len(same.candidates)) == (8, 8, 8)
    assert rest.candidates is same.candidates
    assert (same.itself, rest.itself) == (0, None)
    # An anchor's positives are the twin's other views: as one loss over all anchors.
    twin = [maps[-1].mean(dim=(2, 3)) for maps in encoded.target]
    terms = []
    for view, maps in enumerate(encoded.online):
        for image, anchor in enumerate(maps[-1].mean(dim=(2, 3))):
            scores = torch.stack([t @ anchor for t in twin])  # view, image
            keep = [t for t in range(2) if t != view]
            negatives = scores[:, [i for i in range(4) if i != image]].flatten()
            each = [
                torch.cat([scores[t, image][None], negatives]).logsumexp(0) - scores[t, image]
                for t in keep
            ]
            terms.append(sum(each) / len(each))
    found = contrast(model, views, samples)
    torch.testing.assert_close(found, sum(terms) / len(terms), atol=1e-12, rtol=0)
    pairs = Compare.parse("(-1:-1)").build(shapes_of(encoded))(encoded, samples, ALONE)
    assert len(pairs) == 6  # anchors of four views, candidates of two
    assert sum(pair.weight for pair in pairs) == pytest.approx(1)


def shapes_of(encoded):
    return tuple(tuple(tuple(m.shape[1:]) for m in maps) for maps in encoded.online)


def test_more_targets_than_views_are_refused():
    encoder = MomentumEncoder(of=TinyEncoder(), targets=3)
    with pytest.raises(PartError, match=r"^encoder: got targets=3 of 2 views"):
        tiny_method(encoder=encoder).build(image=(3, 8, 8))


@dataclass(frozen=True)
class OwnTwin:
    """A user's encoder with a twin of its own kind."""

    part: ClassVar[str] = "encoder"

    def build(self, views):
        return OwnPair(TinyNet(views[0][0], (4, 6)))


class OwnPair(nn.Module):
    probe = -2

    def __init__(self, online):
        super().__init__()
        self.online, self.slow = online, copy.deepcopy(online).requires_grad_(False)
        self.steps = []

    def forward(self, views):
        return self.online(views)

    @torch.no_grad()
    def target(self, views):
        return self.slow(views[:1])

    def step(self, progress):
        self.steps.append(progress)

    def restart(self):
        self.slow.load_state_dict(self.online.state_dict())


def test_a_twin_of_ones_own_is_asked_stepped_and_left_out_of_evaluation():
    from counterpoint.evaluation.representation import Representation
    from counterpoint.framework.optional import probe_of
    from counterpoint.training.step import update

    model = built(tiny_method(encoder=OwnTwin(), extraction=Queue(of=Keys(), size=9)))
    views, index = tiny_batch(3)
    assert len(model.encode(views).target) == 1
    assert list(twins(model)) == [model.encoder]
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    update(model, contrast(model, views, index), optimiser, 0.5)
    assert model.encoder.steps == [0.5]
    assert Representation(model).encoder is model.encoder.online
    assert probe_of(model.encoder) == -2


def layers(head):
    return [type(layer).__name__ for layer in head]


def test_heads_of_any_depth():
    simsiam = Headed(of=TinyEncoder(), out=8, hidden=(7, 9), norm=True, last_norm="plain")
    head = simsiam.build(((3, 8, 8),)).head
    hidden = ["Linear", "BatchNorm1d", "ReLU"]
    assert layers(head) == [*hidden, *hidden, "Linear", "BatchNorm1d"]
    assert [m.out_features for m in head if isinstance(m, nn.Linear)] == [7, 9, 8]
    assert head[-1].weight is None
    one = Headed(of=TinyEncoder(), out=8, last_norm="affine").build(((3, 8, 8),)).head
    assert layers(one) == ["Linear", "BatchNorm1d"]
    deep = ProjectedCosine(hidden=(5, 4), out=3, last_norm="affine").build(6, 6).p[0]
    assert layers(deep) == [*hidden, *hidden, "Linear", "BatchNorm1d"]
    with pytest.raises(PartError, match="widths of 1 or more"):
        ProjectedCosine(hidden=(5, 0))


def test_settings_that_came_later_are_written_only_where_they_are_used():
    for method in (simclr(), byol(), moco()):
        assert not {"targets", "last_norm"} & set(method.to_json().split('"'))
    used = tiny_method(
        encoder=MomentumEncoder(of=Headed(of=TinyEncoder(), last_norm="plain"), targets=1)
    )
    assert '"targets":1' in used.to_json()
    assert '"last_norm":"plain"' in used.to_json()
    from counterpoint.methods import read_method

    assert read_method(used.to_json(), parts={"TinyEncoder": TinyEncoder}) == used
