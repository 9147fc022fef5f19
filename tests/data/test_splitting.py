"""Which samples are held out: as ever for sets that results were measured on, and of any count."""

import time

import pytest
import torch

from counterpoint.data import ArraySource, splitting
from counterpoint.data.source import all_but
from counterpoint.framework.permutation import SORTED, Permutation, drawn
from counterpoint.framework.philox import keyed_order


def numbered(count):
    """Images of four bytes: their number."""
    numbers = torch.arange(count)[:, None] >> torch.tensor([0, 8, 16, 24])
    return (numbers & 255).to(torch.uint8).view(count, 1, 2, 2)


def numbers(source):
    return (source.images.flatten(1).long() << torch.tensor([0, 8, 16, 24])).sum(dim=1)


@pytest.mark.parametrize("count", [20, 1_490, 50_000])
def test_splits_are_those_of_the_keyed_order(count):
    """CIFAR-10's 45,000 and 5,000, and caltech20's 1,192, 149 and 149, are in measured results."""
    tenth = count // 10
    order = keyed_order(count, seed=0, epoch=0).tolist()
    images = ArraySource("some", numbered(count), torch.zeros(count, dtype=torch.int64))
    splits = splitting.tenths(images)
    rest, validation, test = map(numbers, (splits.train, splits.validation, splits.test))
    assert rest.tolist() == sorted(order[: count - 2 * tenth])
    assert validation.tolist() == sorted(order[count - 2 * tenth : count - tenth])
    assert test.tolist() == sorted(order[count - tenth :])
    rest, held = map(numbers, splitting.hold_out(images, count=tenth))
    assert rest.tolist() == sorted(order[: count - tenth])
    assert held.tolist() == sorted(order[count - tenth :])


@pytest.mark.parametrize("held", [(0,), (100,), (100, 33)])
def test_of_many_samples_each_is_in_one_part(monkeypatch, held):
    monkeypatch.setattr(splitting, "SORTED", 100)
    parts = splitting._parts(1_000, *held)
    parts = [all_but(1_000, torch.cat(parts)), *parts]
    assert [len(part) for part in parts] == [1_000 - sum(held), *held]
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(1_000))
    for part in parts:
        assert torch.equal(part, part.sort().values)
    if sum(held):
        assert 200 < float(torch.cat(parts[1:]).double().mean()) < 800  # not the first, nor last


def test_few_of_many_are_drawn_without_an_order_of_all():
    started = time.process_time()
    few = drawn(1_000_000_000, 2_000, seed=3)
    assert time.process_time() - started < 0.5
    assert len(few.unique()) == 2_000
    assert torch.equal(few, Permutation(1_000_000_000, 3, 0)(torch.arange(2_000)))
    assert torch.equal(drawn(500, 20, seed=3), keyed_order(500, seed=3, epoch=0)[:20])
    assert len(drawn(SORTED + 1, SORTED + 9, seed=3)) == SORTED + 1
