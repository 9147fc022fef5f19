"""Shards read in lanes: the same batches at any number of ranks and workers, each shard by one."""

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import torch

from counterpoint import open_data
from counterpoint.data import Batches
from counterpoint.data.batches import check_lanes
from counterpoint.data.order import Order
from counterpoint.data.shard_mixing import same_shard, same_shard_by_chance
from counterpoint.data.shards.tar_shards import TarShards
from counterpoint.data.shards_ahead import announced_shares
from shard_folders import make_shards

RAGGED = (7, 4, 5, 6, 3, 5, 6, 4, 5, 5, 7, 3, 4, 6, 5, 5)
EQUAL = (5,) * 16


@pytest.fixture(scope="module", params=[EQUAL, RAGGED], ids=["equal", "ragged"])
def source(request, tmp_path_factory):
    return open_data(make_shards(tmp_path_factory.mktemp("shards"), request.param)).train


def batches(source, **more):
    return Batches(source, batch=16, seed=3, epoch=1, lanes=16, block_shards=1, **more)


@pytest.fixture(scope="module")
def alone(source):
    return list(batches(source))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 16])
def test_the_same_images_at_any_number_of_ranks(source, alone, ranks):
    shares = [list(batches(source, rank=rank, ranks=ranks)) for rank in range(ranks)]
    for whole, *parts in zip(alone, *shares, strict=True):
        assert torch.equal(torch.cat([part.index for part in parts]), whole.index)
        assert torch.equal(torch.cat([part.images for part in parts]), whole.images)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_the_same_images_with_any_number_of_workers(source, alone, workers):
    whole = [batches(source, workers=workers, rank=rank, ranks=2, start=2) for rank in (0, 1)]
    for wanted, *parts in zip(alone[2:], *whole, strict=True):
        assert torch.equal(torch.cat([part.index for part in parts]), wanted.index)
        assert torch.equal(torch.cat([part.images for part in parts]), wanted.images)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 16])
def test_a_rank_reads_its_own_shards(source, ranks, monkeypatch):
    read = [Counter() for _ in range(ranks)]
    true = TarShards.stored
    for rank in range(ranks):
        with monkeypatch.context() as patch:

            def stored(self, shard, row, rank=rank):
                read[rank][shard, row] += 1
                return true(self, shard, row)

            patch.setattr(TarShards, "stored", stored)
            list(batches(source, rank=rank, ranks=ranks))
    assert len(set().union(*read)) == 80  # every record, and each once
    assert all(set(own.values()) == {1} for own in read)
    shards = [{shard for shard, _ in own} for own in read]
    shared = [len(one & other) for one, other in pairwise(shards)]
    assert sum(len(own) for own in shards) - 16 == sum(shared)  # none but neighbours share one
    assert max(shared, default=0) <= (len(source.shards.counts.unique()) > 1)


@dataclass
class Told:
    """Shards that only listen."""

    counts: torch.Tensor
    mixed: bool = False
    most_open: int | None = None
    calls: list = field(default_factory=list)

    def expect(self, shards):
        self.calls.append(list(shards))


@pytest.mark.parametrize("seed", range(6))
def test_shards_are_announced_before_they_are_read_and_not_long_before(seed):
    chance = random.Random(seed)
    counts = torch.tensor([chance.randint(0, 9) for _ in range(60)] + [20])
    order = Order(int(counts.sum()), 8, seed, seed % 2, 2, lanes=4, block_shards=2, counts=counts)
    start = chance.choice([0, len(order) // 2])
    told, ends, known = Told(counts), counts.cumsum(0), set()
    for step, share in enumerate(announced_shares(order, told, start=start), start):
        known.update(shard for call in told.calls for shard in call)
        told.calls.clear()
        assert set(torch.searchsorted(ends, share, right=True).tolist()) <= known
        # Two lanes of this rank, the open block and the next: what else is known was read.
        places = torch.arange(start * 2, (step + 1) * 2)
        done = order.in_lanes().samples(order.own_lanes, places).flatten()
        been = set(torch.searchsorted(ends, done, right=True).tolist())
        assert len(known - been) <= 2 * 2 * 2
    assert step == len(order) - 1
    if start == 0:
        own = torch.cat(list(order.shares()))
        read = set(torch.searchsorted(ends, own, right=True).tolist())
        assert len(known - read) <= 2  # at most the end of a lane's last block
        assert not (counts[list(known)] == 0).any()


def test_a_source_is_told_as_batches_are_handed_out(source, monkeypatch):
    told = []
    monkeypatch.setattr(TarShards, "expect", lambda _, shards: told.append(list(shards)))
    handed = iter(batches(source, rank=1, ranks=4))
    next(handed)
    assert len(told) == 1
    first = len(told[0])
    list(handed)
    assert 4 <= first <= 8
    assert len({shard for call in told for shard in call}) <= 6


def test_lanes_that_do_not_fit_are_refused():
    check_lanes(1, 16, ranks=5)
    check_lanes(8, 16, ranks=8)
    with pytest.raises(ValueError, match=r"8 lanes for 9 processes.*--lanes 16"):
        check_lanes(8, 18 * 8, ranks=9)
    with pytest.raises(ValueError, match="6 lanes do not divide the 16 images"):
        check_lanes(6, 16)


def test_partners_of_the_same_shard_are_counted():
    counts = torch.tensor([9, 12, 30, 13])
    order = Order(64, 8, 0, counts=counts, lanes=2, block_shards=2)
    shard = [s for s, n in enumerate(counts.tolist()) for _ in range(n)]
    found = []
    for step in range(8):
        batch = [shard[sample] for sample in order.whole(step)]
        found += [batch.count(own) - 1 for own in batch]
    assert same_shard(order) == pytest.approx(sum(found) / len(found))
    # By chance: over all pairs of samples, how many are of one shard.
    pairs = [(a, b) for a in range(64) for b in range(64) if a != b]
    share = sum(shard[a] == shard[b] for a, b in pairs) / len(pairs)
    assert same_shard_by_chance(counts, 8) == pytest.approx(7 * share)
