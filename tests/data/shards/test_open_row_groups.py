"""Row groups that do not all fit in memory are read once in an epoch."""

from counterpoint.data import Batches, open_data
from counterpoint.data.layouts import parquet_stream
from counterpoint.data.shards.row_group_read import read_group_images
from counterpoint.resolve import resolve
from data.shards.packs import pack_parquet
from shard_folders import png


def test_an_epoch_reads_a_row_group_once_although_few_fit_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parquet_stream, "ENCODED", 0)
    files = []
    for number in range(512):
        files.append((tmp_path / f"{number}.png", number % 4))
        files[-1][0].write_bytes(png(number, side=16))
    pack_parquet(tmp_path / "set/train-0.parquet", files, list("abcd"), groups=[8] * 64)
    train = open_data(tmp_path / "set").train
    size = train.store.listing.image_bytes // 64
    monkeypatch.setattr("counterpoint.data.shards.row_groups.MOST_GROUP", 9 * size)
    job = resolve("simclr-small", train, changes={"batch": 32})
    assert job.training.lanes * job.training.block_shards == train.shards.most_open == 4
    read = []
    monkeypatch.setattr(
        "counterpoint.data.shards.row_groups.read_group_images",
        lambda files, footer, group, path: (
            read.append(group) or read_group_images(files, footer, group, path)
        ),
    )
    batches = Batches(
        train,
        batch=32,
        seed=0,
        workers=0,
        cut=job.method.views.build((3, 16, 16)).cut,
        lanes=job.training.lanes,
        block_shards=job.training.block_shards,
    )
    for _ in batches:
        pass
    assert len(read) <= 64 + job.training.lanes  # the few that two lanes share may be read twice
