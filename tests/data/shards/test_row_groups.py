"""Parquet row groups as shards: the same rows as in memory, splits, labels, and bounded memory."""

import pickle
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import torch

from counterpoint.data import EncodedSource, open_data
from counterpoint.data.layouts import parquet_stream
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.shards import row_group_listing, row_group_read
from counterpoint.data.shards.row_groups import RowGroups
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.source import all_labels
from data.shards.packs import STRUCT, pack_parquet, photo_files


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def streamed(monkeypatch):
    """Everything is more than is kept in memory."""
    monkeypatch.setattr(parquet_stream, "ENCODED", 0)


@pytest.fixture(scope="module")
def packed(data, tmp_path_factory):
    """Photos in six row groups of two files, of ragged size; one is empty."""
    place = tmp_path_factory.mktemp("packed") / "photos"
    photos, classes = photo_files(data)
    mixed = [photos[(n * 71) % len(photos)] for n in range(len(photos))]
    pack_parquet(place / "train-00000-of-00002.parquet", mixed[:60], classes, groups=[33, 0, 27])
    rest = len(mixed) - 60
    groups = [1, 50, rest - 51]
    pack_parquet(place / "train-00001-of-00002.parquet", mixed[60:], classes, groups=groups)
    return place, mixed, classes


def test_a_row_group_is_a_shard(packed, streamed):
    place, photos, classes = packed
    splits = open_data(place)
    held = len(photos) // 10
    assert repr(splits) == (
        f"photos train: {len(photos) - 2 * held} images in Parquet, {len(classes)} classes, "
        f"{held} to choose by, {held} to score"
    )
    store = splits.train.store
    assert isinstance(store, RowGroups)
    assert store.counts.tolist() == [33, 0, 27, 1, 50, len(photos) - 111]
    assert store.classes == tuple(classes)
    found = []
    for part in (splits.train, splits.validation, splits.test):
        assert isinstance(part, ShardSource)
        labels = all_labels(part).tolist()
        found += [(part.stored(n).content, labels[n]) for n in range(len(part))]
    assert sorted(found) == sorted((file.read_bytes(), label) for file, label in photos)
    name = f"{place}/train-00001-of-00002.parquet/row group 1"
    assert store.path(4, 7) == f"{name}/row 7"
    assert store.stored(4, 7).content == photos[68][0].read_bytes()


def test_below_the_bound_rows_stay_in_memory(packed, monkeypatch):
    place, _, _ = packed
    whole = open_data(place)
    assert isinstance(whole.train, EncodedSource)
    size = sum(file.stat().st_size for file in place.iterdir())
    monkeypatch.setattr(parquet_stream, "ENCODED", size - 1)
    assert isinstance(open_data(place).train, ShardSource)


def test_named_splits_are_as_they_are_called(packed, streamed, tmp_path):
    _, photos, classes = packed
    pack_parquet(tmp_path / "data/train-0.parquet", photos[:30], classes, groups=[10, 20])
    pack_parquet(tmp_path / "data/validation-0.parquet", photos[30:40], classes, groups=[10])
    pack_parquet(tmp_path / "data/test-0.parquet", photos[40:50], classes, groups=[3, 7])
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [30, 10, 10]
    for part, first in ((splits.train, 0), (splits.validation, 30), (splits.test, 40)):
        for n in range(len(part)):
            assert part.stored(n).content == photos[first + n][0].read_bytes()
        assert all_labels(part).tolist() == [label for _, label in photos[first:][: len(part)]]
    hidden = [(file, -1) for file, _ in photos[40:50]]  # as of ImageNet on the Hub
    pack_parquet(tmp_path / "data/test-0.parquet", hidden, classes, groups=[3, 7])
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [27, 3, 10]
    assert splits.test.stored(0).content == photos[30][0].read_bytes()


def test_labels_are_read_without_images(packed, streamed, monkeypatch):
    place, photos, _ = packed
    train = open_data(place).train
    monkeypatch.setattr(row_group_read, "read_group_images", None)
    monkeypatch.setattr("counterpoint.data.shards.row_groups.read_group_images", None)
    some = torch.tensor([5, 100, 7])
    places = [train.place(n) for n in some.tolist()]
    starts = [0, 33, 33, 60, 61, 111]
    assert train.labels_of(some).tolist() == [photos[starts[s] + row][1] for s, row in places]


def test_open_row_groups_are_bounded(packed, streamed, monkeypatch):
    place, photos, _ = packed
    monkeypatch.setattr("counterpoint.data.shards.row_groups.MOST_GROUP", 900_000)
    store = open_data(place).train.store
    for shard, row in ((0, 3), (2, 4), (4, 1), (0, 5), (5, 6)):
        store.stored(shard, row)
    held = [group.nbytes for group in store._images.values.values()]
    assert sum(held) == store._images.held <= 900_000 + max(held)
    assert len(held) < 4
    assert store.stored(0, 3).content == photos[3][0].read_bytes()


def test_a_second_start_reads_no_footer(packed, streamed, monkeypatch):
    place, _, _ = packed
    first = open_data(place)
    monkeypatch.setattr(row_group_listing, "read_footer", None)
    again = open_data(place)
    assert again.train.fingerprint() == first.train.fingerprint()
    copy = pickle.loads(pickle.dumps(again.train))
    assert copy.stored(9).content == first.train.stored(9).content


def test_rows_without_an_image_are_bad_alone(packed, streamed, tmp_path):
    _, photos, _ = packed
    content = photos[0][0].read_bytes()
    rows = [{"bytes": content, "path": "a"}, {"bytes": None, "path": "b"}, None]
    table = pa.table({"image": pa.array(rows, STRUCT)})
    parquet.write_table(table, tmp_path / "a.parquet")
    train = open_data(tmp_path).train
    assert train.stored(0).content == content
    for row in (1, 2):
        with pytest.raises(UnreadableImageError, match="there is no image in this row"):
            train.stored(row)


def test_a_damaged_row_group_is_bad_alone(packed, streamed, tmp_path):
    _, photos, classes = packed
    file = tmp_path / "train-0.parquet"
    pack_parquet(file, photos[:60], classes, groups=[20, 20, 20])
    found = parquet.read_metadata(file)
    content = bytearray(file.read_bytes())
    start = found.row_group(1).column(0).data_page_offset
    content[start : start + 40] = b"\xff" * 40
    file.write_bytes(content)
    train = open_data(tmp_path).train.store
    assert train.stored(0, 5).content == photos[5][0].read_bytes()
    assert train.stored(2, 5).content == photos[45][0].read_bytes()
    for row in (0, 19):
        with pytest.raises(UnreadableImageError, match="row group 1") as seen:
            train.stored(1, row)
        assert seen.value.kind == "truncated"


MAKE = """
import sys, pyarrow as pa, pyarrow.parquet as parquet
def write(name, images, **more):
    table = pa.table({"image": images})
    parquet.write_table(table, f"{sys.argv[1]}/{name}.parquet", compression="zstd", **more)
indices = pa.array([0] * 20)  # 1 GB, were they apart
many = pa.DictionaryArray.from_arrays(indices, pa.array([bytes(50_000_000)]))
write("dictionary", many)
page = pa.array([bytes(60_000_000)] * 10)  # one page of 600 MB, and a file of a few kB
write("page", page, use_dictionary=False)
prefixes = pa.array([bytes(1_000_000) + b"%d" % n for n in range(60)])
write("prefixes", prefixes, use_dictionary=False, column_encoding={"image": "DELTA_BYTE_ARRAY"})
"""
READ = """
import resource, sys
from counterpoint.data.layouts import parquet_stream
parquet_stream.ENCODED = 0
from counterpoint.data import open_data
from counterpoint.data.pictures import UnreadableImageError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in ("page", "prefixes", "dictionary"):
    train = open_data(f"{sys.argv[1]}/{name}.parquet").train
    for n in (0, len(train) - 1):
        try:
            print(len(train.stored(n).content))
        except UnreadableImageError as error:
            print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def test_small_files_that_become_large_are_bounded(tmp_path):
    """Made and read in processes of their own: what is made is large."""
    subprocess.run([sys.executable, "-c", MAKE, tmp_path], check=True, timeout=300)
    assert all(file.stat().st_size < 2_000_000 for file in tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    *lines, grown = done.stdout.splitlines()
    for line in lines[:2]:
        assert "has 572 MiB of images, needs 512 MiB at most; write the file again" in line
    for line in lines[2:4]:
        assert "a page has the encoding 7, whose size cannot be known" in line
    assert lines[4:] == ["50000000", "50000000"]  # of a dictionary the entry is there once
    assert int(grown) < 300, grown


def test_many_rows_of_nothing_are_refused(streamed, tmp_path, monkeypatch):
    table = pa.table({"image": pa.nulls(5_000, pa.binary())})
    parquet.write_table(table, tmp_path / "a.parquet")
    monkeypatch.setattr(row_group_listing, "MOST_ROWS", 4_999)
    with pytest.raises(ValueError, match="says that it has 5,000 rows, needs 4,999 at most"):
        open_data(tmp_path)
