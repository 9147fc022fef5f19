"""The sampler: every sample exactly once, whatever happens on the way; and a receipt for it."""

import random
import time

import pytest
import torch

from counterpoint.data.order import Order
from counterpoint.data.receipt import power_sums, receipt, whole_sums
from counterpoint.framework.permutation import Permutation


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 1000, 4097])
def test_a_permutation_of_any_count(count):
    every = torch.arange(count)
    for epoch in range(3):
        order = Permutation(count, seed=5, epoch=epoch)
        assert torch.equal(order(every).sort().values, every)
        picked = every[:: max(1, count // 9)]
        assert torch.equal(order(picked), order(every)[picked])  # place by place


def test_a_bijection_of_ten_million_at_a_million_a_second():
    places = torch.arange(10_000_000)
    started = time.process_time()
    found = Permutation(len(places), seed=1, epoch=2)(places)
    seconds = time.process_time() - started
    assert torch.equal(torch.bincount(found), torch.ones_like(places))
    assert len(places) / seconds > 1e6


def test_five_billion_samples_are_drawn_without_being_held():
    count = 5_000_000_000
    generator = torch.Generator().manual_seed(0)
    places = torch.randint(count, (1_000_000,), generator=generator).unique()
    started = time.process_time()
    found = Permutation(count, seed=3, epoch=0)(places)
    seconds = time.process_time() - started
    assert len(found.unique()) == len(places)
    assert 0 <= int(found.min()) < int(found.max()) < count
    tenths = torch.bincount(found * 10 // count, minlength=10) / len(found)
    torch.testing.assert_close(tenths, torch.full((10,), 0.1), atol=0.0015, rtol=0)  # 5 sigma
    assert len(places) / seconds > 1e6


def test_seeds_and_epochs_give_other_orders_and_no_place_is_favoured():
    every = torch.arange(50)
    orders = torch.stack(
        [Permutation(50, seed=s, epoch=e)(every) for s in range(60) for e in (0, 1)]
    )
    assert len({tuple(order.tolist()) for order in orders}) == 120
    assert abs(float((orders == every).double().sum(dim=1).mean()) - 1) < 0.5  # fixed points
    assert orders.double().mean(dim=0).sub(24.5).abs().max() < 5 * 14.4 / 120**0.5


def run_to_the_end(count, batch, epochs, chance):
    """Consume epochs while being killed and moved to other numbers of ranks; give each ledger.

    What is consumed after the last checkpoint is lost with the process, and consumed again.
    """
    seed = chance.randrange(2**40)
    ledger = [torch.zeros(count, dtype=torch.int64) for _ in range(epochs)]
    sums = [torch.zeros(5, dtype=torch.int64) for _ in range(epochs)]
    epoch = cursor = 0
    while epoch < epochs:
        ranks = chance.choice([1, 2, 3, 4, 7])
        orders = [Order(count, batch, seed, rank, ranks, epoch) for rank in range(ranks)]
        shares = [list(order.shares(start=cursor)) for order in orders]
        left = count // batch - cursor
        assert {len(steps) for steps in shares} == {left}  # as many steps on every rank
        taken = chance.randint(0, left)
        kept = taken if taken == left else chance.randint(taken // 2, taken)
        for steps in shares:
            samples = torch.cat([torch.empty(0, dtype=torch.int64), *steps[:kept]])
            ledger[epoch] += torch.bincount(samples, minlength=count)
            sums[epoch] += power_sums(samples)
        cursor += kept
        if cursor == count // batch:
            epoch, cursor = epoch + 1, 0
    return seed, ledger, sums


def schedules(number, seed):
    chance = random.Random(seed)
    for _ in range(number):
        batch = chance.randint(2, 24)
        count, epochs = batch + chance.randint(0, 150), chance.randint(1, 3)
        seed, ledger, sums = run_to_the_end(count, batch, epochs, chance)
        for epoch in range(epochs):
            order = Order(count, batch, seed, epoch=epoch)
            wanted = torch.ones(count, dtype=torch.int64)
            wanted[order.rest()] = 0
            assert torch.equal(ledger[epoch], wanted)  # no duplicate, nothing missing
            assert receipt(order, sums[epoch]).right


def test_no_sample_twice_and_none_missing_in_some_schedules():
    schedules(300, seed=0)


@pytest.mark.full
def test_no_sample_twice_and_none_missing_in_ten_thousand_schedules():
    schedules(10_000, seed=1)


def test_closed_forms():
    for count in (1, 2, 10, 12_345):
        assert torch.equal(whole_sums(count), power_sums(torch.arange(count)))
    big = 5_000_000_000  # by hand: n (n - 1) / 2, and its square modulo 2^64
    first = big * (big - 1) // 2
    assert whole_sums(big)[1] == first
    assert int(whole_sums(big)[3]) % 2**64 == first**2 % 2**64


def test_a_receipt_sees_what_is_missing_doubled_or_mixed_up():
    order = Order(103, batch=10, seed=4)
    consumed = torch.cat(list(order.shares()))
    assert receipt(order, power_sums(consumed)).right
    chance = random.Random(0)
    for _ in range(300):
        wrong = consumed.clone()
        for place in chance.sample(range(len(wrong)), chance.randint(1, 4)):
            wrong[place] = chance.randrange(103)
        same = torch.equal(wrong.sort().values, consumed.sort().values)
        assert receipt(order, power_sums(wrong)).right == same
    assert not receipt(order, power_sums(consumed[:-1])).right
