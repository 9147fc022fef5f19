"""The order in lanes: arithmetic that gives what plain loops give, at any number of ranks."""

import random
import time

import pytest
import torch

from counterpoint.data.lanes import Lanes
from counterpoint.data.order import Order, share_sizes
from counterpoint.data.receipt import power_sums, receipt
from counterpoint.framework.permutation import Permutation, Permutations
from reference.lanes import batches_of, keyed_shuffle, lanes_of

RANKS = (1, 2, 3, 4, 5, 8, 16)


def some_shards(chance, *, lanes, batch):
    """Draw counts of shards, ragged or equal, with empty ones among them."""
    most = chance.choice([1, 3, 9, 40])
    counts = [chance.randint(0, most) for _ in range(chance.randint(1, 40))]
    if chance.random() < 0.3:
        counts = [most] * len(counts)
    missing = max(lanes, batch) - sum(counts)
    return [*counts, missing] if missing > 0 else counts


def test_permutations_of_groups_are_those_of_the_loops():
    counts = [1, 2, 3, 5, 64, 65, 1000]
    groups = [(n, g * 7, g % 3) for g, n in enumerate(counts)]
    keyed = Permutations(
        *(torch.tensor(column) for column in zip(*groups, strict=True)), seed=2**40 + 3, epoch=5
    )
    wanted, places, which = [], [], []
    for group, (count, lane, block) in enumerate(groups):
        wanted += keyed_shuffle(count, seed=2**40 + 3, epoch=5, lane=lane, block=block)
        places += range(count)
        which += [group] * count
    mixed = list(range(len(places)))
    random.Random(0).shuffle(mixed)
    found = keyed(torch.tensor(places)[mixed], torch.tensor(which)[mixed])
    assert found.tolist() == torch.tensor(wanted)[mixed].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_lanes_are_those_of_the_loops(seed):
    chance = random.Random(seed)
    lanes = chance.choice([1, 2, 4, 8])
    batch, block = lanes * chance.randint(1, 3), chance.choice([1, 2, 3, 50])
    counts = some_shards(chance, lanes=lanes, batch=batch)
    for epoch in (0, 3):
        named = {"lanes": lanes, "block_shards": block, "seed": seed, "epoch": epoch}
        wanted, outside = lanes_of(counts, **named)
        found = Lanes(torch.tensor(counts), **named)
        places = torch.arange(found.length)
        assert found.samples(torch.arange(lanes), places).tolist() == wanted
        assert found.outside().tolist() == outside
        some = torch.tensor(sorted(chance.sample(range(found.length), min(3, found.length))))
        own = torch.tensor([lanes - 1])
        assert found.samples(own, some)[0].tolist() == [wanted[-1][place] for place in some]
        order = Order(sum(counts), batch, seed, counts=torch.tensor(counts))
        order.lanes, order.block_shards, order.epoch = lanes, block, epoch
        whole = [order.whole(step).tolist() for step in range(len(order))]
        assert whole == batches_of(counts, batch=batch, **named)


@pytest.mark.parametrize("counts", [[1000, 17, 3, 0, 555], [1575]])
def test_one_lane_with_all_shards_in_its_block_is_the_permutation(counts):
    lanes = Lanes(torch.tensor(counts), 1, 8, seed=3, epoch=4)
    places = torch.arange(1575)
    today = Permutation(1575, 3, 4)(places)
    assert torch.equal(lanes.samples(torch.tensor([0]), places)[0], today)
    assert torch.equal(lanes._samples(torch.tensor([0]), places)[0], today)  # and by the long way


@pytest.mark.parametrize("ranks", RANKS)
def test_global_batches_are_the_same_for_any_number_of_ranks(ranks):
    chance = random.Random(7)
    counts = torch.tensor([chance.randint(20, 39) for _ in range(64)])
    named = {"lanes": 16, "block_shards": 2, "counts": counts}
    total = int(counts.sum())
    whole = Order(total, 32, 1, epoch=2, **named)
    orders = [Order(total, 32, 1, rank, ranks, epoch=2, **named) for rank in range(ranks)]
    shares = [list(order.shares(start=1)) for order in orders]
    assert tuple(len(own[0]) for own in shares) == share_sizes(32, lanes=16, ranks=ranks)
    for step, parts in enumerate(zip(*shares, strict=True), start=1):
        assert torch.equal(torch.cat(parts), whole.whole(step))
    # A rank reads its own shards: another has one of them only where the cut goes through it.
    ends = counts.cumsum(0)
    read = [set(torch.searchsorted(ends, torch.cat(own), right=True).tolist()) for own in shares]
    for one in range(ranks):
        for other in range(one + 1, ranks):
            assert len(read[one] & read[other]) <= (other == one + 1)


def test_no_shard_is_cut_where_counts_are_equal_and_lanes_divide_their_number():
    counts = torch.full((64,), 25)
    lanes = Lanes(counts, 16, 2, seed=5, epoch=1)
    samples = lanes.samples(torch.arange(16), torch.arange(lanes.length)) // 25
    assert [len(lane.unique()) for lane in samples] == [4] * 16
    # Blocks follow each other: two shards are open at a time.
    assert all(len(half.unique()) == 2 for lane in samples for half in lane.split(50))


def run_to_the_end(order, epochs, chance):
    """Consume epochs while being killed and moved to other numbers of ranks; give each ledger."""
    ledger = [torch.zeros(order.count, dtype=torch.int64) for _ in range(epochs)]
    sums = [torch.zeros(5, dtype=torch.int64) for _ in range(epochs)]
    epoch = cursor = 0
    while epoch < epochs:
        ranks = chance.choice([ranks for ranks in RANKS if ranks <= max(order.lanes, 2)])
        left = len(order) - cursor
        taken = chance.randint(0, left)
        kept = taken if taken == left else chance.randint(taken // 2, taken)
        for rank in range(ranks):
            own = Order(
                order.count,
                order.batch,
                order.seed,
                rank,
                ranks,
                epoch,
                order.together,
                order.lanes,
                order.block_shards,
                order.counts,
            )
            steps = list(own.shares(start=cursor))
            assert len(steps) == left  # as many steps on every rank
            samples = torch.cat([torch.empty(0, dtype=torch.int64), *steps[:kept]])
            ledger[epoch] += torch.bincount(samples, minlength=order.count)
            sums[epoch] += power_sums(samples)
        cursor += kept
        if cursor == len(order):
            epoch, cursor = epoch + 1, 0
    return ledger, sums


def schedules(number, seed):
    chance = random.Random(seed)
    for _ in range(number):
        lanes = chance.choice([1, 2, 4, 8, 16])
        batch = lanes * chance.randint(1, 3) if lanes > 1 else chance.randint(2, 24)
        together = chance.choice([1, 1, 2])
        counts = torch.tensor(some_shards(chance, lanes=lanes, batch=batch * together))
        order = Order(int(counts.sum()), batch, chance.randrange(2**40), together=together)
        order.lanes, order.counts, order.block_shards = lanes, counts, chance.choice([1, 2, 8])
        epochs = chance.randint(1, 3)
        ledger, sums = run_to_the_end(order, epochs, chance)
        for epoch in range(epochs):
            order.set_epoch(epoch)
            wanted = torch.ones(order.count, dtype=torch.int64)
            wanted[order.rest()] = 0
            assert int(wanted.sum()) == len(order) * batch
            assert torch.equal(ledger[epoch], wanted)  # no duplicate, nothing missing
            assert receipt(order, sums[epoch]).right


def test_no_sample_twice_and_none_missing_in_some_schedules_on_shards():
    schedules(60, seed=0)


@pytest.mark.full
def test_no_sample_twice_and_none_missing_in_ten_thousand_schedules_on_shards():
    schedules(10_000, seed=1)


def test_a_million_shards_are_put_in_order_in_less_than_a_second():
    counts = torch.full((1_000_000,), 5000)
    order = Order(5_000_000_000, 65_536, 3, 700, 1024, lanes=1024, counts=counts)
    started = time.process_time()
    share = next(order.shares(start=10_000))
    seconds = time.process_time() - started
    assert len(share) == 64
    assert int(share.max()) < 5_000_000_000
    assert seconds < 1
    lanes = order.in_lanes()
    held = sum(array.nbytes for array in (lanes.line, lanes.ends, lanes.starts, lanes.cuts))
    assert held <= 24_100_000
    assert torch.equal(order.whole(10_000).tensor_split(1024)[700], share)
