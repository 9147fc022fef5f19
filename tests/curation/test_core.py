"""The formulas of curation beside plain loops."""

import pytest
import torch
import torch.nn.functional as F

from counterpoint.curation.balanced import balanced_sample, even_shares
from counterpoint.curation.cells import sphere_cells
from counterpoint.curation.groups import linked_groups, preference
from counterpoint.curation.locality import distance, local_scales, scaled_distances
from counterpoint.curation.neighbourhoods import directions, rooms
from counterpoint.curation.oddness import closeness, odd_cut
from counterpoint.curation.selection import farthest_first, selected, typical
from counterpoint.curation.suspects import TAU, label_verdicts
from reference import curation as slow


def crowd(count, width=6, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def clustered(clusters, each, width=16, seed=0, spread=0.15):
    centres = F.normalize(crowd(clusters, width, seed), dim=1)
    noise = crowd(clusters * each, width, seed + 1) * spread
    return centres.repeat_interleave(each, dim=0) + noise


def test_nearest_others_are_those_of_loops():
    vectors = crowd(40)
    near = rooms(vectors).nearest(vectors, torch.arange(40), count=5)
    for row, expected in enumerate(slow.nearest(vectors.tolist(), 5)):
        assert near.index[row].tolist() == [number for _, number in expected]
        assert near.cosine[row].tolist() == pytest.approx([cos for cos, _ in expected], abs=1e-5)
    assert near.products == 40 * 40


@pytest.mark.parametrize("many", [4_000, 20_000])
def test_in_cells_copies_are_found_with_few_products(many):
    vectors = clustered(many // 50, 50)
    copies = vectors[:500] + 0.02 * crowd(500, 16, seed=8)
    both = torch.cat([vectors, copies])
    rows = torch.arange(many, many + 500)
    cut = rooms(both, exact=100, cell=100, beside=4)
    near = cut.nearest(copies, rows, count=4)
    assert float((near.index[:, 0] == torch.arange(500)).double().mean()) > 0.98
    exact = rooms(both).nearest(copies, rows, count=4)
    assert float((near.index[:, 1] == exact.index[:, 1]).double().mean()) > 0.9
    assert near.products < 0.4 * exact.products * (4_000 / many)
    assert torch.cat(cut.members).sort().values.equal(torch.arange(many + 500))


def test_two_levels_of_cells_put_a_vector_with_its_like():
    vectors = F.normalize(clustered(1_500, 4, width=8, spread=0.01), dim=1)
    cells = sphere_cells(vectors, count=1_100)
    assert cells.parents is not None
    place = cells.nearest(vectors).view(1_500, 4)
    looked = cells.beside(4)[place[:, 0]]
    together = (looked[:, :, None] == place[:, None, :]).any(dim=1).double().mean()
    assert together > 0.97
    own = (vectors * cells.centres[cells.nearest(vectors)]).sum(dim=1)
    assert float(own.mean()) > 0.95


def test_fewer_neighbours_than_asked_are_marked():
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    near = rooms(vectors, exact=1, cell=2, beside=0).nearest(vectors, torch.arange(3), count=2)
    assert near.index.tolist() == [[1, -1], [0, -1], [-1, -1]]
    assert closeness(near.cosine)[2] == 0


def test_scaled_distances_are_those_of_loops():
    vectors = crowd(30)
    near = rooms(vectors).nearest(vectors, torch.arange(30), count=6)
    scales = local_scales(near.cosine)
    found = scaled_distances(near.cosine, near.index, scales, scales)
    loops = slow.nearest(vectors.tolist(), 6)
    by_hand = [slow.scale([cos for cos, _ in one]) for one in loops]
    for i, one in enumerate(loops):
        expected = [slow.length(c) / (by_hand[i] * by_hand[j]) ** 0.5 for c, j in one]
        assert found[i].tolist() == pytest.approx(expected, rel=1e-4)


def test_every_pair_within_1_is_in_one_of_the_two_lists():
    vectors = crowd(200, 5, seed=3)
    near = rooms(vectors).nearest(vectors, torch.arange(200))
    scales = local_scales(near.cosine)
    all_pairs = (
        distance(directions(vectors) @ directions(vectors).T) / (scales[:, None] * scales).sqrt()
    )
    all_pairs.fill_diagonal_(9)
    listed = torch.zeros(200, 200, dtype=torch.bool).scatter_(1, near.index, True)
    assert bool(((listed | listed.T) | (all_pairs > 1 - 1e-5)).all())
    assert int((all_pairs < 1).sum()) > 400


def test_a_crowd_of_copies_has_a_scale():
    same = torch.ones(40, 8) + crowd(40, 8) * 1e-4
    vectors = torch.cat([same, crowd(400, 8, seed=2)])
    near = rooms(vectors).nearest(vectors, torch.arange(440))
    scales = local_scales(near.cosine)
    found = scaled_distances(near.cosine, near.index, scales, scales)
    assert float(found[:40].max()) < 0.05


def test_groups_and_who_is_kept_are_those_of_loops():
    generator = torch.Generator().manual_seed(4)
    for count, many in [(12, 6), (40, 30), (60, 200)]:
        pairs = torch.randint(count, (many, 2), generator=generator)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        rank = torch.randperm(count, generator=generator)
        found = linked_groups(count, pairs, rank)
        group, kept = slow.groups(count, pairs.tolist(), rank.tolist())
        assert found.group.tolist() == group
        assert found.kept.tolist() == kept


def test_held_out_then_pixels_then_bytes_then_order_decide():
    held = torch.tensor([0, 0, 0, 0, 1])
    pixels, size = torch.tensor([9, 9, 9, 8, 1]), torch.tensor([5, 7, 5, 9, 1])
    assert preference(pixels, size, held).argsort().tolist() == [4, 1, 0, 2, 3]


def test_outliers_are_far_and_a_cut_is_not_moved_by_them():
    generator = torch.Generator().manual_seed(0)
    scores = 0.7 + 0.05 * torch.randn(5_000, generator=generator)
    cut = odd_cut(scores)
    assert cut == pytest.approx(0.7 - 3 * 0.05, abs=0.01)
    assert odd_cut(torch.cat([scores, torch.zeros(200)])) == pytest.approx(cut, abs=0.02)


def test_votes_are_those_of_loops():
    generator = torch.Generator().manual_seed(5)
    vectors = crowd(50, 4, seed=6)
    labels = torch.randint(-1, 3, (50,), generator=generator)
    voters = (torch.rand(50, generator=generator) < 0.8).long()
    near = rooms(vectors).nearest(vectors, torch.arange(50), count=7)
    found = label_verdicts(labels, near.index, near.cosine, voters)
    expected = slow.doubts(labels.tolist(), slow.nearest(vectors.tolist(), 7), voters.tolist(), TAU)
    assert found.best.tolist() == [best for best, _, _ in expected]
    assert found.share.tolist() == pytest.approx([share for _, share, _ in expected], abs=1e-4)
    assert found.own.tolist() == pytest.approx([own for _, _, own in expected], abs=1e-4)


def test_wrong_labels_are_doubted_first():
    vectors = clustered(5, 40)
    labels = torch.arange(5).repeat_interleave(40)
    wrong = torch.arange(0, 200, 20)
    labels[wrong] = (labels[wrong] + 1) % 5
    near = rooms(vectors).nearest(vectors, torch.arange(200))
    found = label_verdicts(labels, near.index, near.cosine, torch.ones(200, dtype=torch.int64))
    assert found.doubt.argsort(descending=True)[:10].sort().values.tolist() == wrong.tolist()


def test_centres_are_those_of_loops_and_cover():
    vectors = F.normalize(crowd(60), dim=1)
    chosen = farthest_first(vectors, 9)
    assert chosen.tolist() == slow.farthest_first(vectors.tolist(), 9, int(chosen[0]))
    groups = F.normalize(clustered(12, 30, spread=0.02), dim=1)
    both = farthest_first(groups, 12), typical(groups, farthest_first(groups, 12))
    for found in both:
        assert (found // 30).sort().values.tolist() == list(range(12))
    near = [float((groups @ groups[found].T).max(dim=1).values.mean()) for found in both]
    assert near[1] > near[0]


def test_more_than_there_are_is_all_of_them():
    assert selected(crowd(5), 9).tolist() == [0, 1, 2, 3, 4]


def test_equal_vectors_are_chosen_once_each():
    vectors = F.normalize(torch.ones(6, 3), dim=1)
    assert len(farthest_first(vectors, 4).unique()) == 4


def test_shares_are_those_of_dealing_one_at_a_time():
    generator = torch.Generator().manual_seed(7)
    for total in (0, 1, 7, 30, 500):
        room = torch.randint(0, 12, (9,), generator=generator)
        assert even_shares(room, total).tolist() == slow.even_shares(room.tolist(), total)


def test_a_balanced_sample_has_rare_things_too():
    common, rare = clustered(1, 3_800, spread=0.2), clustered(10, 20, seed=9, spread=0.05)
    vectors = torch.cat([common, rare])
    chosen = selected(vectors, 100, greedy=1_000)
    assert len(chosen) == len(chosen.unique()) == 100
    rare_ones = chosen[chosen >= 3_800]
    assert len(rare_ones) >= 15  # 5 are expected of 100 drawn at random
    assert len(((rare_ones - 3_800) // 20).unique()) >= 6
    assert balanced_sample(vectors, 100, seed=0).equal(chosen)
