"""Windows of shards against plain lists; a source of shards keeps the contract of sources."""

from itertools import accumulate, chain, pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.data import Source, open_data
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.shards.shard_window import ShardWindow
from counterpoint.data.splitting import hold_out, tenths
from counterpoint.framework.permutation import Permutation
from shard_folders import make_shards, png

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=5)


def listed(window):
    """All (shard, row) of a window, by loops."""
    found = []
    for shard, count in enumerate(window.counts.tolist()):
        first = 0 if window.firsts is None else int(window.firsts[shard])
        for place in range(first, first + count):
            row = place
            if window.key is not None:
                order = Permutation(int(window.rows[shard]), window.key, shard)
                row = int(order(torch.tensor([place])))
            found.append((shard, row))
    return found


def shares(counts, held):
    """floor(H b / N) - floor(H a / N), by loops."""
    total = max(1, sum(counts))
    ends = [0, *accumulate(counts)]
    return [held * b // total - held * a // total for a, b in pairwise(ends)]


@settings(max_examples=25, deadline=None)
@given(COUNTS, st.integers(0, 5), st.integers(0, 5), st.integers(0, 3))
def test_windows_are_what_loops_say(counts, one, two, key):
    whole = ShardWindow.whole(torch.tensor(counts))
    every = [(s, r) for s, count in enumerate(counts) for r in range(count)]
    assert listed(whole) == every
    if one + two > len(every):
        return
    rest, first, second = whole.split([one, two], key)
    assert (len(rest), len(first), len(second)) == (len(every) - one - two, one, two)
    assert first.counts.tolist() == shares(counts, one)
    left = [a - b for a, b in zip(counts, shares(counts, one), strict=True)]
    assert second.counts.tolist() == shares(left, two)
    assert sorted(listed(rest) + listed(first) + listed(second)) == every
    for part in (rest, first, second):
        shard, row = part.places(torch.arange(len(part)))
        assert list(zip(shard.tolist(), row.tolist(), strict=True)) == listed(part)
        for sample, (where, _) in enumerate(listed(part)):
            assert part.place(sample)[0] == where
        some = listed(part)
        for count in {0, 1, len(part) // 2, len(part)}:
            assert listed(part.first(count)) == some[:count]


def test_a_window_of_a_window_holds_out_of_it():
    train, _, _ = ShardWindow.whole(torch.tensor([9, 9])).split([2, 2], key=0)
    rest, held = train.split([4], key=0)
    assert sorted(listed(rest) + listed(held)) == sorted(listed(train))


def test_products_above_64_bits():
    many = 10**12
    parts = ShardWindow.whole(torch.full((1000,), many // 1000)).split([many // 10], key=0)
    assert [len(part) for part in parts] == [many - many // 10, many // 10]
    assert set(parts[1].counts.tolist()) == {many // 10_000}


@pytest.fixture
def train(tmp_path):
    return open_data(make_shards(tmp_path / "made", (7, 6, 6, 6))).train


def numbers(source):
    """Which pictures these are, by their bytes."""
    known = {png(n): n for n in range(25)}
    return [known[source.stored(n).content] for n in range(len(source))]


def test_splits_of_shards_are_windows(train):
    splits = tenths(train)
    parts = [splits.train, splits.validation, splits.test]
    assert all(isinstance(part, ShardSource) for part in parts)
    assert [len(part) for part in parts] == [21, 2, 2]
    found = [numbers(part) for part in parts]
    assert sorted(chain(*found)) == list(range(25))
    for part, some in zip(parts, found, strict=True):
        assert part.labels_of(torch.arange(len(part))).tolist() == [n % 3 for n in some]
        assert [part.path(n) for n in range(len(part))] == [f"some/{n}.png" for n in some]
        assert int(part.shards.counts.sum()) == len(part)
    assert len({part.fingerprint() for part in parts}) == 3
    again = tenths(train)
    assert again.test.fingerprint() == splits.test.fingerprint()
    rest, held = hold_out(splits.train, count=3)
    assert sorted(numbers(rest) + numbers(held)) == sorted(found[0])


def test_what_is_bad_is_the_same_pictures_in_every_part(train):
    splits = tenths(train.marked(range(0, 25, 2)))
    for part in (splits.train, splits.validation, splits.test):
        own = numbers(part)
        assert {own[place] for place in part.bad} == {n for n in own if n % 2 == 0}


def test_shards_keep_the_contract(train):
    assert isinstance(train, Source)
    few = torch.tensor([9, 3])
    assert isinstance(train.subset("few", few), EncodedSource)
    assert numbers(train.subset("few", few)) == [9, 3]
    assert train.subset("few", few).labels_of(torch.tensor([1])).tolist() == [0]
    rest = train.without("rest", few)
    assert numbers(rest) == [n for n in range(25) if n not in (3, 9)]
    assert rest.shards.counts.tolist() == [6, 5, 6, 6]
    fewer = rest.without("again", torch.tensor([3, 0]))  # which are 4 and 0
    assert numbers(fewer) == [n for n in range(25) if n not in (0, 3, 4, 9)]
    assert numbers(fewer.first(4)) == [1, 2, 5, 6]
    assert numbers(train.first(9)) == list(range(9))
    assert train.first(9).describe()["limit"] == 9
    assert train.first(9).shards.counts.tolist() == [7, 2]
    assert len(train.first(0)) == 0
    assert train.first(7).named("seven").describe()["name"] == "seven"
    bad = train.marked([2, 9, 20])
    assert [*bad.without("less", torch.tensor([9, 4])).bad] == [2, 18]
    assert [*bad.subset("some", torch.tensor([20, 1])).bad] == [0]
    assert [*bad.first(10).bad] == [2, 9]
