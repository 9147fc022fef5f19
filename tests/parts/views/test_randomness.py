"""Philox against its published answers, what the numbers depend on, and how they are spread."""

import torch
from scipy import stats

from counterpoint.framework import Draw
from counterpoint.framework.philox import keyed_order, philox
from counterpoint.parts.views.view_draws import uniform_draws

# Random123, kat_vectors, philox4x32 10.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
SURE = 1e-6  # a fair generator fails such a test once in a million seeds; these seeds are fixed


def test_published_answers():
    for counter, key, answer in KNOWN:
        words = philox(tuple(torch.tensor(word) for word in counter), key)
        assert tuple(int(word) for word in words) == answer


def numbers(seed=1, epoch=2, index=(5, 6, 7), views=(0,), counts=(9,), shared=0):
    draw = Draw(seed, epoch, torch.tensor(index))
    return uniform_draws(draw, views=views, counts=counts, shared=shared)


def test_a_sample_has_its_numbers_in_any_batch():
    (alone,) = numbers(index=(6,))
    (three,), (other,), (fewer,) = numbers(), numbers(index=(7, 6)), numbers(counts=(3,))
    assert torch.equal(three[1], alone[0])
    assert torch.equal(other[1], alone[0])
    assert torch.equal(fewer, three[:, :3])


def test_a_view_and_a_stage_have_theirs_beside_any_others():
    both = numbers(views=(0, 1), counts=(9, 2))
    second = numbers(views=(1,), counts=(9, 2))
    for together, alone in zip(both, second, strict=True):
        assert torch.equal(together[3:], alone)
        assert (together[:3] != alone).all()
    without = numbers(views=(0, 1), counts=(0, 2))
    assert torch.equal(without[1], both[1])


def test_shared_stages_have_one_draw_for_all_views():
    first, second = numbers(views=(0, 1), counts=(4, 4), shared=1)
    assert torch.equal(first[:3], first[3:])
    assert (second[:3] != second[3:]).all()


def test_every_coordinate_matters():
    (mine,) = numbers()
    others = [
        numbers(seed=2),
        numbers(seed=1 + 2**40),
        numbers(epoch=3),
        numbers(index=(1005, 1006, 1007)),
        numbers(index=(5 + 2**33, 6 + 2**33, 7 + 2**33)),
        numbers(views=(1,)),
        numbers(counts=(0, 9))[1:],
    ]
    for (other,) in others:
        assert (other != mine).all()


def test_numbers_are_uniform():
    """Each of eight numbers, over 100,000 samples: Kolmogorov-Smirnov, and 1,000 equal bins."""
    (drawn,) = numbers(index=tuple(range(100_000)), counts=(8,))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    for column in drawn.double().T.numpy():
        assert stats.kstest(column, "uniform").pvalue > SURE
        counts = torch.bincount((torch.from_numpy(column) * 1000).long(), minlength=1000)
        assert stats.chisquare(counts.numpy()).pvalue > SURE


def test_numbers_are_independent():
    """Pairs of numbers along every coordinate fill the square evenly: 20 x 20 cells."""
    index = tuple(range(100_000))
    (mine,) = numbers(index=index, counts=(2,))
    (views,) = numbers(index=index, views=(1,), counts=(1,))
    (_, stage) = numbers(index=index, counts=(2, 1))
    (epoch,) = numbers(index=index, epoch=3, counts=(1,))
    (seed,) = numbers(index=index, seed=2, counts=(1,))
    neighbour = mine.roll(1, dims=0)
    first = mine[:, 0]
    for other in (mine[:, 1], *(x[:, 0] for x in (views, stage, epoch, seed, neighbour))):
        cell = (first * 20).long() * 20 + (other * 20).long()
        assert stats.chisquare(torch.bincount(cell, minlength=400).numpy()).pvalue > SURE
    # The test sees dependence: the same numbers twice are only on the diagonal.
    cell = (first * 20).long() * 21
    assert stats.chisquare(torch.bincount(cell, minlength=400).numpy()).pvalue < SURE


def test_the_order_is_a_permutation_that_changes_with_the_epoch():
    first, second = (keyed_order(1000, seed=3, epoch=epoch) for epoch in (0, 1))
    assert torch.equal(first.sort().values, torch.arange(1000))
    assert not torch.equal(first, second)
    assert torch.equal(first, keyed_order(1000, seed=3, epoch=0))
