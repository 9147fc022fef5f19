"""Comparisons of feature maps, the context of CPC, MoCo's keys and CMC's bank."""

import math

import pytest
import torch

from counterpoint.framework import ALONE, Draw, Encoded, PartError, Samples
from counterpoint.framework.records import NOBODY
from counterpoint.methods.amdim import STRATEGIES, amdim, amdim_small
from counterpoint.methods.yadim import yadim_small
from counterpoint.parts.encoders import ResNet
from counterpoint.parts.extraction import Bank, Compare, Context, Keys, Pair
from counterpoint.parts.extraction.context import places


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("(-1:-2) + (-1:-3) + (-2:-2)", (Pair(-1, -2), Pair(-1, -3), Pair(-2, -2))),
        ("( -1 : -1 )", (Pair(-1, -1),)),
        ("(-1:random)", (Pair(-1, "random"),)),
        ("(k:k)", ()),
        ("same level", ()),
    ],
)
def test_text_parses_to_values(text, pairs):
    found = Compare.parse(text)
    assert found.pairs == pairs
    assert Compare.parse(str(found).split(",")[0]) == found


@pytest.mark.parametrize("text", ["", "-1:-2", "(-1:-2) (-1:-3)", "(1:2)", "(k:k) + (-1:-1)"])
def test_other_texts_are_refused(text):
    with pytest.raises(PartError, match="extraction: got"):
        Compare.parse(text)


def encoded(widths=(6, 6, 6), sides=(3, 2, 1), count=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    views = tuple(
        tuple(
            torch.randn(count, w, s, s, generator=generator, dtype=torch.float64)
            for w, s in zip(widths, sides, strict=True)
        )
        for _ in range(2)
    )
    return Encoded(views, views)


def shapes(given):
    return tuple(tuple(tuple(m.shape[1:]) for m in maps) for maps in given.online)


def test_anchors_and_candidates_are_the_maps_vectors():
    given, index = encoded(), torch.tensor([5, 6, 7, 9])
    built = Compare.parse("(-1:-2)", anchors="all").build(shapes(given))
    first, second = built(given, Samples(index), ALONE)
    torch.testing.assert_close(first.anchors, given.online[0][-1][:, :, 0, 0])
    torch.testing.assert_close(first.candidates[5], given.online[1][-2][1, :, 0, 1])
    assert first.candidate_identity.tolist() == [5] * 4 + [6] * 4 + [7] * 4 + [9] * 4
    torch.testing.assert_close(second.anchors, given.online[1][-1][:, :, 0, 0])
    assert first.weight == second.weight == 0.5
    assert first.itself is None


def test_one_place_is_drawn_for_each_image_and_step():
    given, index = encoded(count=200, sides=(5, 5, 1)), torch.arange(200)
    built = Compare.parse("(-2:-2)").build(shapes(given))
    seen = []
    for _ in range(3):
        (comparison, _) = built(given, Samples(index), ALONE)
        maps = given.online[0][-2].flatten(2)
        match = (maps == comparison.anchors[:, :, None]).all(dim=1)
        assert (match.sum(dim=1) == 1).all()  # a vector of the image's own map
        seen.append(match.int().argmax(dim=1))
    assert len(set(seen[0].tolist())) == 25
    assert not torch.equal(seen[0], seen[1])
    again = Compare.parse("(-2:-2)").build(shapes(given))
    some = Encoded(*[tuple(tuple(m[50:60] for m in v) for v in given.online)] * 2)
    (comparison, _) = again(some, Samples(index[50:60]), ALONE)
    maps = given.online[0][-2].flatten(2)[50:60]
    place = (maps == comparison.anchors[:, :, None]).all(dim=1).int().argmax(dim=1)
    assert torch.equal(place, seen[0][50:60])  # a function of sample and step, not of the batch


def test_a_random_map_is_the_same_on_all_ranks_and_all_are_drawn():
    given, index = encoded(), torch.arange(4)
    ranks = [Compare.parse("(-1:random)").build(shapes(given)) for _ in range(2)]
    sizes = []
    for _ in range(60):
        found = {len(rank(given, Samples(index), ALONE)[0].candidates) for rank in ranks}
        assert len(found) == 1
        sizes.append(found.pop())
    assert set(sizes) == {4 * 9, 4 * 4, 4 * 1}


def test_same_level_compares_every_map_with_itself():
    given = encoded()
    built = Compare.parse("same level", anchors="all").build(shapes(given))
    found = built(given, Samples(torch.arange(4)), ALONE)
    assert [(len(c.anchors), len(c.candidates)) for c in found[::2]] == [(4, 4), (16, 16), (36, 36)]


def test_unequal_channels_are_brought_together_by_learned_maps():
    given = encoded(widths=(4, 6, 8))
    built = Compare.parse("(-1:-2) + (-1:-3)").build(shapes(given)).double()
    found = built(given, Samples(torch.arange(4)), ALONE)
    assert {c.anchors.shape[1] for c in found} == {c.candidates.shape[1] for c in found} == {8}
    layer = built.bring["-2"]
    expected = layer(given.online[1][-2][2, :, 1, 0])
    torch.testing.assert_close(found[0].candidates[2 * 4 + 2], expected)


def test_positives_come_from_the_same_image_on_a_resnet():
    """The released code of 2020 reshaped maps of unequal width: it paired other images.

    Here the gradient of each positive score with respect to the images is only in its own one.
    """
    method = amdim(ResNet("resnet18"), size=32)
    torch.manual_seed(0)
    model = method.build(image=(3, 32, 32)).eval()
    images = tuple(torch.randn(4, 3, 32, 32, requires_grad=True) for _ in range(2))
    comparisons = model.extraction(model.encode(images), Samples(torch.arange(4)), ALONE)
    assert len(comparisons) == 6
    for number, comparison in enumerate(comparisons):
        scores = comparison.anchors @ comparison.candidates.T
        positive = comparison.anchor_identity[:, None] == comparison.candidate_identity
        for image in range(4):
            mine = scores[comparison.anchor_identity == image][:, positive[image]].sum()
            gradients = torch.autograd.grad(mine, images, retain_graph=True)
            for gradient in gradients:
                touched = gradient.abs().sum(dim=(1, 2, 3)).nonzero()[:, 0].tolist()
                assert touched == [image], f"comparison {number}, image {image}"


@pytest.mark.parametrize("compose", [amdim_small, yadim_small])
@pytest.mark.parametrize("text", STRATEGIES.values())
def test_the_four_strategies_of_table_2_are_four_lines(text, compose):
    method = compose().swap(extraction=Compare.parse(text))
    assert text in str(method)
    torch.manual_seed(0)
    model = method.build(image=(3, 32, 32))
    images = torch.randint(256, (6, 3, 32, 32), dtype=torch.uint8)
    chosen = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for step in range(6):
        index = torch.arange(6)
        loss = model(model.views(images, Draw(0, step, index)), index)
        chosen.zero_grad()
        loss.backward()
        assert all(p.grad is not None for p in model.parameters())  # DDP waits for each
        chosen.step()
        losses.append(float(loss.detach()))
    assert all(math.isfinite(loss) for loss in losses)


def test_maps_that_do_not_exist_are_refused():
    with pytest.raises(PartError, match=r"extraction: got \(-1:-4\), one place of 3 maps"):
        Compare.parse("(-1:-4)").build(shapes(encoded()))


def test_the_context_is_causal_in_rows():
    """The context of row i depends on rows 0 to i, of all columns near it, and on none below."""
    torch.manual_seed(0)
    built = Context(hidden=8, blocks=5, target=4).build((((6, 7, 7),),)).double()
    grid = torch.randn(1, 6, 7, 7, dtype=torch.float64, requires_grad=True)
    context = built.context(grid)
    for row in range(7):
        (gradient,) = torch.autograd.grad(context[:, :, row].pow(2).sum(), grid, retain_graph=True)
        by_row = gradient.abs().sum(dim=(0, 1, 3))
        assert (by_row[max(0, row - 5) : row + 1] > 0).all()  # five blocks see five rows up
        assert (by_row[row + 1 :] == 0).all()


def test_cpc_predicts_below():
    built = Context(offsets=(2, 3), target=4, hidden=8, blocks=1).build((((6, 5, 5),),)).double()
    given = encoded(widths=(6,), sides=(5,), count=2)
    one = Encoded(given.online[:1], given.online[:1])
    first, second = built(one, Samples(torch.tensor([3, 8])), ALONE)
    assert len(first.anchors) == 2 * 3 * 5
    assert len(second.anchors) == 2 * 2 * 5
    assert len(first.candidates) == 2 * 25
    # The anchor of image 8 at row 0, column 1 has the place at row 2, column 1 as its positive.
    assert int(first.anchor_identity[15 + 1]) == 8 * 25 + 2 * 5 + 1
    assert first.candidate_identity.tolist() == places(torch.tensor([3, 8]), 5).flatten().tolist()


def test_keys_of_the_batch_are_nobodys_negatives():
    from counterpoint.framework import Scores
    from counterpoint.parts.losses.softmax import summarise

    given, index = encoded(widths=(6,), sides=(1,)), torch.tensor([0, 1, 5, 9])
    (c,) = Keys().build(shapes(given))(given, Samples(index), ALONE)
    old = torch.randn(7, 6, dtype=torch.float64)
    nobody = torch.full((7,), NOBODY)
    scores = Scores(
        anchors=c.anchors,
        candidates=torch.cat([c.candidates, old]),
        anchor_identity=c.anchor_identity,
        candidate_identity=torch.cat([c.candidate_identity, nobody]),
    )
    summary = summarise(scores)
    torch.testing.assert_close(summary.positive, (c.anchors * c.candidates).sum(dim=1))
    torch.testing.assert_close(summary.negative, (c.anchors @ old.T).logsumexp(dim=1))


def test_the_bank_follows_and_is_bounded():
    given, index = encoded(widths=(6,), sides=(1,)), torch.tensor([4, 0, 7, 2])
    built = Bank(samples=9, negatives=20, momentum=0.5).build(shapes(given)).double()
    before = built.entries.clone()
    first, second = built(given, Samples(index), ALONE)
    torch.testing.assert_close(first.candidates, before[1, index])
    torch.testing.assert_close(second.candidates, before[0, index])
    drawn = first.remembered.identity
    assert len(drawn) == 20
    assert drawn.max() < 9
    torch.testing.assert_close(first.remembered.vectors, before[1, drawn])
    unit = torch.nn.functional.normalize
    seen = unit(given.online[0][0][:, :, 0, 0], dim=1)
    torch.testing.assert_close(built.entries[0, index], unit((before[0, index] + seen) / 2, dim=1))
    untouched = [n for n in range(9) if n not in index.tolist()]
    assert torch.equal(built.entries[:, untouched], before[:, untouched])
    built.eval()
    kept = built.entries.clone()
    built(given, Samples(index), ALONE)
    assert torch.equal(built.entries, kept)
    with pytest.raises(PartError, match="sample 9 in a bank of 9"):
        built(given, Samples(torch.tensor([0, 1, 2, 9])), ALONE)


def test_a_sample_not_seen_yet_is_what_the_other_view_gives_now():
    given, index = encoded(widths=(6,), sides=(1,)), torch.tensor([4, 0, 7, 2])
    built = Bank(samples=9, negatives=5, start="seen").build(shapes(given)).double()
    unit = torch.nn.functional.normalize
    now = unit(given.online[1][0][:, :, 0, 0], dim=1)
    first, _ = built(given, Samples(index), ALONE)
    torch.testing.assert_close(first.candidates[:4], now)
    torch.testing.assert_close(built.entries[1, index], now)  # the first time as it is
    again, _ = built(given, Samples(index), ALONE)
    torch.testing.assert_close(again.candidates[:4], now)
    assert built.seen.nonzero()[:, 0].tolist() == [0, 2, 4, 7]
