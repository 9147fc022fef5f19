"""The signs of health against loops, by hand, and a look that changes nothing."""

import copy
import json
import math
from dataclasses import replace

import pytest
import torch

from counterpoint.data import as_source, image_files
from counterpoint.evaluation.health import (
    alignment,
    alpha_req,
    deviation,
    guessing_top1,
    histogram,
    lidar,
    rankme,
    ridge,
    surprise,
    table,
    take_look,
    top1,
    uniformity,
)
from counterpoint.framework import Draw, Scores
from counterpoint.framework.records import NOBODY, only_positive
from counterpoint.methods import SEVEN, cmc, method_named, moco_small, simclr_small
from counterpoint.parts.batch_norm import GroupedBatchNorm
from counterpoint.parts.encoders import NarrowResNet
from reference import health as reference
from reference import softmax

TINY = NarrowResNet(widths=(8, 16), blocks=(1, 1))
CLOSE = {"rel": 1e-10, "abs": 1e-10}


def vectors(count, width, seed):
    """Vectors that are neither centred nor round."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(count, width, generator=generator, dtype=torch.float64)
    return z * torch.linspace(0.2, 2.0, width, dtype=torch.float64) + 0.3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("count", "width"), [(20, 6), (9, 9), (30, 12)])
def test_spectra_equal_the_loops(count, width, seed):
    z = vectors(count, width, seed)
    first = 4 if width >= 8 else 1
    assert float(rankme(z)) == pytest.approx(reference.rankme(z.tolist()), **CLOSE)
    last = min(count - 1, width)  # centred, nine vectors span eight directions
    expected = reference.alpha_req(z.tolist(), first, last)
    assert float(alpha_req(z)) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_lidar_equals_the_loops_also_with_unequal_numbers_of_views(seed):
    z = vectors(25, 5, seed)
    image = torch.tensor([7, 7, 7, *range(6), *range(6), *range(6), 2, 2, 9, 9])
    assert float(lidar(z, image)) == pytest.approx(
        reference.lidar(z.tolist(), image.tolist()), **CLOSE
    )


@pytest.mark.parametrize("seed", range(3))
def test_geometry_equals_the_loops(seed):
    a, b = vectors(11, 5, seed), vectors(11, 5, seed + 10)
    assert float(alignment(a, b)) == pytest.approx(
        reference.alignment(a.tolist(), b.tolist()), **CLOSE
    )
    assert float(deviation(a)) == pytest.approx(reference.deviation(a.tolist()), **CLOSE)
    for t in (2.0, 3.5):
        assert float(uniformity(a, t=t)) == pytest.approx(
            reference.uniformity(a.tolist(), t), **CLOSE
        )


def test_values_known_by_hand():
    assert float(rankme(torch.eye(7) * 3)) == pytest.approx(7, abs=1e-4)
    two = torch.tensor([[3.0, 0.0], [0.0, 1.0]])  # p = 3/4, 1/4
    assert float(rankme(two)) == pytest.approx(4 / 3**0.75, abs=1e-5)
    assert float(rankme(torch.zeros(4, 3))) == pytest.approx(1, abs=1e-4)
    square = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    # Four pairs at squared distance 2, two at 4.
    assert float(uniformity(square)) == pytest.approx(
        math.log((4 * math.exp(-4) + 2 * math.exp(-8)) / 6)
    )
    assert float(deviation(square)) == pytest.approx(1.0)
    assert float(deviation(torch.ones(5, 3))) == pytest.approx(0.0, abs=1e-12)
    assert float(alignment(square, -square)) == 4.0
    assert float(alignment(square, 7 * square)) == 0.0


def test_lidar_counts_directions_that_tell_images_apart():
    """Noise that differs between the views of an image is not information, however large."""
    generator = torch.Generator().manual_seed(0)
    image = torch.arange(400).repeat(2)
    content = torch.randn(400, 3, generator=generator, dtype=torch.float64).repeat(2, 1)
    noise = 5 * torch.randn(800, 7, generator=generator, dtype=torch.float64)
    z = torch.cat([content, noise], dim=1)
    assert float(lidar(z, image)) == pytest.approx(3.0, abs=0.1)
    assert float(rankme(z)) > 7


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_vectors_that_are_not_finite_have_no_rank(broken):
    z = vectors(12, 4, 0)
    z[3, 1] = broken
    for value in (rankme(z), alpha_req(z), lidar(z, torch.arange(6).repeat(2))):
        assert math.isnan(float(value))


def scores(seed, *, itself, clip=None):
    generator = torch.Generator().manual_seed(seed)
    z = 2 * torch.randn(12, 4, generator=generator, dtype=torch.float64)
    images = torch.tensor([0, 1, 0, 2, 1, 3, 0, 0, 5, 5, NOBODY, NOBODY])
    return Scores(
        anchors=z[:8],
        candidates=z,
        anchor_identity=images[:8],
        candidate_identity=images,
        itself=itself,
        clip=clip,
    )


@pytest.mark.parametrize("itself", [0, None])
@pytest.mark.parametrize("clip", [None, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_what_scores_say_equals_the_loops(seed, itself, clip):
    given = scores(seed, itself=itself, clip=clip)
    rows = softmax.summary(
        given.anchors,
        given.candidates,
        given.anchor_identity,
        given.candidate_identity,
        itself=itself,
        clip=clip,
    )
    rows = [tuple([float(s) for s in role] for role in row) for row in rows]
    found = table(given)
    expected = reference.answered(rows)
    for figure, value in zip((top1, guessing_top1, surprise), expected, strict=True):
        assert float(figure(found)) == pytest.approx(value, **CLOSE)
    for role, place in (("positive", 0), ("negative", 1)):
        values = [s for row in rows for s in row[place]]
        counted = histogram(found.score[getattr(found, role)], limit=4.0, bins=10)
        assert counted.tolist() == reference.histogram(values, 4.0, 10)
        assert int(counted.sum()) == len(values)


def test_keys_are_nobodys_negatives_and_a_queue_is_everybodys():
    index = torch.tensor([4, 9])
    given = Scores(
        anchors=torch.eye(2),
        candidates=torch.tensor([[2.0, 9.0], [9.0, 2.0], [1.0, 1.0], [1.5, 3.0]]),
        anchor_identity=only_positive(index),
        candidate_identity=torch.cat([only_positive(index), torch.tensor([NOBODY, NOBODY])]),
    )
    found = table(given)
    assert found.positive.tolist() == [[True, False, False, False], [False, True, False, False]]
    assert found.negative.tolist() == [[False, False, True, True]] * 2
    assert float(top1(found)) == 0.5  # 2 > 1.5, but 2 < 3; the other's key with 9 is not asked
    assert float(guessing_top1(found)) == pytest.approx(1 / 3)


def test_scores_that_are_all_the_same_find_nothing():
    one = torch.ones(6, 3)
    images = torch.arange(3).repeat(2)
    found = table(
        Scores(
            anchors=one, candidates=one, anchor_identity=images, candidate_identity=images, itself=0
        )
    )
    assert float(top1(found)) == 0.0
    assert float(guessing_top1(found)) == pytest.approx(0.2)
    assert float(surprise(found)) == pytest.approx(1.0)


def test_some_anchors_keep_their_own_candidates():
    """With anchors left out, an anchor is still not compared with itself."""
    generator = torch.Generator().manual_seed(0)
    z = torch.nn.functional.normalize(torch.randn(50, 8, generator=generator), dim=1)
    images = torch.arange(25).repeat(2)
    found = table(
        Scores(
            anchors=z, candidates=z, anchor_identity=images, candidate_identity=images, itself=0
        ),
        anchors=7,
    )
    assert found.score.shape == (7, 50)
    assert found.positive.sum(dim=1).tolist() == [1] * 7
    assert found.negative.sum(dim=1).tolist() == [48] * 7
    neither = ~(found.positive | found.negative)
    assert found.score[neither] == pytest.approx(torch.ones(7))


def test_an_edge_belongs_to_the_bin_above_it():
    values = torch.tensor([-9.0, -1.0, -0.5, 0.0, 0.49, 0.5, 1.0, 9.0, math.nan])
    assert histogram(values, limit=1.0, bins=4).tolist() == [2, 1, 2, 3]


def test_ridge_equals_gradient_descent():
    bank, queries = vectors(40, 4, 0), vectors(25, 4, 1)
    labels = (bank[:, 0] + bank[:, 3] > 0.5).long() + (bank[:, 1] > 0.4).long()
    found = ridge(bank, labels, queries, penalty=0.1)
    assert found.tolist() == reference.ridge(bank.tolist(), labels.tolist(), queries.tolist(), 0.1)
    assert len(set(found.tolist())) == 3


def images(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(256, (count, 3, 32, 32), generator=generator, dtype=torch.uint8)


def model_of(name):
    torch.manual_seed(0)
    return method_named(f"{name}-small", size=32).build(image=(3, 32, 32))


@pytest.mark.parametrize("name", SEVEN)
def test_a_look_works_for_every_method_and_changes_nothing(name):
    model = model_of(name)
    model.train()
    before, modes = copy.deepcopy(model.state_dict()), [m.training for m in model.modules()]
    random = torch.get_rng_state()
    signs = take_look(model, as_source(images(47)), torch.arange(40) + 7)
    assert torch.equal(random, torch.get_rng_state())
    assert [m.training for m in model.modules()] == modes
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert (
        take_look(model, as_source(images(47)), torch.arange(40) + 7).to_dict() == signs.to_dict()
    )
    assert 1 <= signs.rankme <= min(signs.width, signs.images)
    assert 1 <= signs.lidar <= signs.width + 0.01
    assert 0 < signs.alignment < 4
    assert signs.uniformity < 0
    assert math.isfinite(signs.loss)
    assert math.isnan(signs.top1) == (name == "moco")  # its queue is still empty


def test_a_look_at_a_bank_changes_nothing():
    torch.manual_seed(0)
    model = cmc(TINY, samples=60).build(image=(3, 32, 32))
    before = copy.deepcopy(model.state_dict())
    signs = take_look(model, as_source(images(40)), torch.arange(40))
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    assert signs.chance == pytest.approx(1 / (1 + 16_384))


def test_a_look_asks_no_other_rank():
    """Rank 0 looks alone; whoever waits for the others would wait for ever."""

    class Others:
        size, rank = 2, 0

        def gather(self, vectors, identity):
            raise AssertionError("asked the other ranks")

    method = moco_small(TINY)
    method = method.swap(encoder=replace(method.encoder, groups=4))
    model = method.build(image=(3, 32, 32))
    norms = [m for m in model.modules() if isinstance(m, GroupedBatchNorm)]
    others = Others()
    for norm in norms:
        norm.world = others
    take_look(model, as_source(images(16)), torch.arange(16))
    assert norms
    assert all(norm.world is others and norm.member is None for norm in norms)


def test_a_look_at_a_model_in_double_precision():
    """`--precision 64-true` widens the weights; views are made in fp32."""
    model = simclr_small(TINY).build(image=(3, 32, 32))
    some, index = as_source(images(32)), torch.arange(32)
    narrow = take_look(model, some, index)
    wide = take_look(model.double(), some, index)
    assert wide.loss == pytest.approx(narrow.loss, rel=1e-4)
    assert wide.rankme == pytest.approx(narrow.rankme, rel=1e-4)


def test_a_look_takes_whole_batches_and_their_rest_alike():
    """300 images are looked at in parts; the vectors are those of all at once."""
    model = simclr_small(TINY).build(image=(3, 32, 32))
    many, index = images(300), torch.arange(300)
    signs = take_look(model, as_source(many), index)
    model.eval()
    draw = Draw(0, 0, index)
    with torch.no_grad():
        first, second = (
            maps[-1].mean(dim=(2, 3)) for maps in model.encoder(model.views(many, draw))
        )
    assert signs.images == 300
    assert signs.rankme == pytest.approx(float(rankme(first)), rel=1e-5)
    assert signs.alignment == pytest.approx(float(alignment(first, second)), rel=1e-5)


def test_files_are_looked_at(data):
    files = image_files(data / "caltech20")
    model = simclr_small(TINY, size=64).build(image=(3, 64, 64))
    signs = take_look(model, files, torch.arange(0, 200, 5))
    assert signs.images == 40
    assert signs.views_apart > 0.1


def test_signs_are_plain_data():
    """JSON has no nan: what could not be had is null."""
    signs = take_look(model_of("moco"), as_source(images(8)), torch.arange(8))
    data = json.loads(json.dumps(signs.to_dict(), allow_nan=False))
    assert data["top1"] is None
    assert data["width"] == 256
    assert sum(data["positive"]) == 8
