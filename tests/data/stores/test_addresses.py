"""Data at an address: what is opened, what is refused, and that it is the data of the disk."""

import fsspec
import pytest
import torch

from counterpoint.cli import main
from counterpoint.data import open_data
from counterpoint.data.source import read_images
from counterpoint.sharding import ShardingJob
from data.shards.packs import pack_parquet, pack_tar
from shard_folders import make_shards, png


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def shards(tmp_path):
    return make_shards(tmp_path / "shards")


def test_shards_on_a_store_are_those_of_the_disk(s3, shards):
    address = s3.put_folder(shards, "opened")
    near, far = open_data(shards).train, open_data(f"{address}/").train
    assert far.fingerprint() == near.fingerprint()
    assert len(far) == len(near) == 13
    every = torch.arange(13)
    assert torch.equal(read_images(far, every), read_images(near, every))
    assert torch.equal(far.labels_of(every), near.labels_of(every))
    assert far.path(4) == near.path(4) == "some/4.png"
    assert (
        s3.counts()["keys"]["opened/shards.parquet"] == (shards / "shards.parquet").stat().st_size
    )


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_any_address_of_fsspec_is_opened(shards, scheme):
    if scheme == "memory":
        memory = fsspec.filesystem("memory")
        for file in shards.iterdir():
            memory.pipe_file(f"/opened/{file.name}", file.read_bytes())
        address = "memory://opened"
    else:
        address = f"file://{shards}"
    assert open_data(address).train.fingerprint() == open_data(shards).train.fingerprint()


def test_single_images_on_a_store_are_refused_with_what_to_do(s3):
    for number in range(3):
        s3.put(f"photos/a/{number}.png", png(number))
    with pytest.raises(ValueError, match=r"3 single images, .* counterpoint shard DATA OUT"):
        open_data(s3.address("photos"))


def test_an_empty_or_wrong_address_says_what_is_there(s3):
    s3.put("texts/note.txt", b"hello")
    s3.put("texts/manifest.json", b"{}")
    with pytest.raises(FileNotFoundError, match=r"bucket/texts has no .*; found .*note.txt"):
        open_data(s3.address("texts"))
    with pytest.raises(FileNotFoundError, match=r"bucket/nothing has no .*; found nothing"):
        open_data(s3.address("nothing"))
    with pytest.raises(FileNotFoundError):
        open_data("s3://no-such-bucket/set")


def test_missing_credentials_are_one_line_at_once(s3, monkeypatch):
    from counterpoint.data.stores import file_systems

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setattr(file_systems, "_OPENED", {})
    with pytest.raises(PermissionError, match=r"s3://bucket/x.*credentials"):
        open_data("s3://bucket/x")


@pytest.fixture
def foreign(tmp_path):
    """Tars as webdataset writes them, and Parquet files as the Hub has them."""
    samples = []
    for number in range(12):
        file = tmp_path / "files" / f"{number}.png"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(png(number, 16))
        samples.append((file, number % 3))
    for part in range(2):
        some = samples[6 * part : 6 * part + 6]
        pack_tar(tmp_path / "tars" / f"train-{part:05d}.tar", some)
        pack_parquet(
            tmp_path / "tables" / f"train-{part}.parquet", some, ["a", "b", "c"], groups=(3, 3)
        )
    return tmp_path


@pytest.mark.parametrize("kind", ["tars", "tables"])
def test_tars_and_parquet_stream_from_a_store(s3, foreign, kind, monkeypatch):
    from counterpoint.data.layouts import parquet_stream

    monkeypatch.setattr(parquet_stream, "ENCODED", 0)  # stream them from the disk too
    address = s3.put_folder(foreign / kind, f"foreign/{kind}")
    near, far = open_data(foreign / kind), open_data(address)
    for split in ("train", "validation", "test"):
        one, other = getattr(near, split), getattr(far, split)
        assert len(one) == len(other)
        assert other.fingerprint() == one.fingerprint()
        every = torch.arange(len(one))
        assert torch.equal(one.labels_of(every), other.labels_of(every))
        assert [one.stored(n).content for n in every.tolist()] == [
            other.stored(n).content for n in every.tolist()
        ]


def test_small_parquet_has_the_splits_of_the_disk(s3, tmp_path):
    """Whoever trains at the address and scores on the disk scores what was not trained on."""
    samples = []
    for number in range(120):
        file = tmp_path / f"{number}.png"
        file.write_bytes(png(number, 16 + number % 2))
        samples.append((file, number % 3))
    place = tmp_path / "tables/train-0.parquet"
    pack_parquet(place, samples, ["a", "b", "c"], groups=(50, 70))
    near, far = open_data(place.parent), open_data(s3.put_folder(place.parent, "small"))
    for split in ("train", "validation", "test"):
        one, other = getattr(near, split), getattr(far, split)
        assert [other.stored(n).content for n in range(len(other))] == [
            one.stored(n).content for n in range(len(one))
        ]
        every = torch.arange(len(one))
        assert torch.equal(one.labels_of(every), other.labels_of(every))
        assert str(other.path(0)).startswith("s3://")
    assert len(near.test) == len(near.validation) == 12


def test_what_is_at_an_address_is_sharded(s3, foreign, tmp_path):
    address = s3.put_folder(foreign / "tars", "to-shard")
    main(["shard", address, str(tmp_path / "made"), "--workers", "1"])
    near, far = open_data(tmp_path / "made"), open_data(address)
    for split in ("train", "validation", "test"):
        one, other = getattr(near, split), getattr(far, split)
        assert {one.stored(n).content for n in range(len(one))} == {
            other.stored(n).content for n in range(len(other))
        }
    with pytest.raises(ValueError, match="out: got the address s3://bucket/made; needs a folder"):
        ShardingJob.begin(address, "s3://bucket/made")


@pytest.mark.parametrize("file", ["tars/train-00001.tar", "tables/train-1.parquet"])
def test_one_file_of_a_store_is_opened_alone(s3, foreign, file):
    s3.put_folder(foreign, "single")
    found = open_data(s3.address(f"single/{file}"))
    assert len(found.train) + len(found.validation) + len(found.test) == 6
