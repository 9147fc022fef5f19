"""Philox against its published answers, and what the numbers depend on."""

import torch

from counterpoint.framework import Draw
from counterpoint.framework.randomness import keyed_order, philox
from counterpoint.parts.views.randomness import uniform

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


def test_published_answers():
    for counter, key, answer in KNOWN:
        words = philox(tuple(torch.tensor(word) for word in counter), key)
        assert tuple(int(word) for word in words) == answer


def numbers(seed=1, epoch=2, index=(5, 6, 7), view=0, stage=0, count=9):
    return uniform(Draw(seed, epoch, torch.tensor(index)), view=view, stage=stage, count=count)


def test_a_sample_has_its_numbers_in_any_batch():
    alone = numbers(index=(6,))
    assert torch.equal(numbers()[1], alone[0])
    assert torch.equal(numbers(index=(7, 6))[1], alone[0])
    assert torch.equal(numbers(count=3), numbers()[:, :3])


def test_every_coordinate_matters():
    others = [
        numbers(seed=2),
        numbers(seed=1 + 2**40),
        numbers(epoch=3),
        numbers(index=(1005, 1006, 1007)),
        numbers(index=(5 + 2**33, 6 + 2**33, 7 + 2**33)),
        numbers(view=1),
        numbers(stage=1),
    ]
    for other in others:
        assert (other != numbers()).all()


def test_numbers_are_uniform_and_independent():
    u = numbers(index=tuple(range(20_000)), count=8).double()
    assert u.min() >= 0
    assert u.max() < 1
    bound = 4 / 20_000**0.5  # four deviations of a mean of 20,000
    assert ((u.mean(dim=0) - 0.5).abs() < bound * (1 / 12) ** 0.5).all()
    correlation = torch.corrcoef(u.T) - torch.eye(8)
    assert correlation.abs().max() < bound


def test_the_order_is_a_permutation_that_changes_with_the_epoch():
    first, second = (keyed_order(1000, seed=3, epoch=epoch) for epoch in (0, 1))
    assert torch.equal(first.sort().values, torch.arange(1000))
    assert not torch.equal(first, second)
    assert torch.equal(first, keyed_order(1000, seed=3, epoch=0))
