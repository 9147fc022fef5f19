"""Our shards: what is written is read, and what is wrong is named."""

import hashlib
import json
import pickle
import tarfile

import numpy as np
import pytest
import torch

from counterpoint.data import open_data
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.shards.shard_index import decode_names
from counterpoint.data.source import Source, read_images
from counterpoint.framework import Draw
from shard_folders import make_shards, png


@pytest.fixture
def folder(tmp_path):
    return make_shards(tmp_path / "made")


def test_records_come_back_byte_by_byte(folder):
    train = open_data(folder).train
    assert isinstance(train, Source)
    assert len(train) == 13
    assert train.shards.counts.tolist() == [5, 4, 4]
    assert [train.stored(n).content for n in range(13)] == [png(n) for n in range(13)]
    assert train.labels_of(torch.arange(13)).tolist() == [n % 3 for n in range(13)]
    assert [train.path(n) for n in (0, 12)] == ["some/0.png", "some/12.png"]
    assert repr(train) == "made train: 13 images in shards, 3 x 8 x 8, 3 classes"
    assert read_images(train, torch.tensor([12, 3])).shape == (2, 3, 8, 8)


def test_any_tar_reads_them(folder):
    with tarfile.open(folder / "train-00001.tar") as archive:
        members = archive.getmembers()
        assert [m.name for m in members] == [f"{n:06d}.png" for n in range(4)]
        assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in members} == {(0, 0, 0, "", 0o644)}
        assert archive.extractfile(members[2]).read() == png(7)


def test_the_same_records_are_the_same_bytes(folder, tmp_path):
    again = make_shards(tmp_path / "again")
    for file in sorted(folder.iterdir()):
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name


def test_a_source_travels_to_another_process(folder):
    train = pickle.loads(pickle.dumps(open_data(folder).train))
    assert train.stored(7).content == png(7)
    assert train.fingerprint() == open_data(folder).train.fingerprint()


def test_the_fingerprint_is_the_manifests(folder, tmp_path):
    known = open_data(folder).train.fingerprint()
    assert known.startswith("shards1-13-")
    copy = make_shards(tmp_path / "copy")
    assert open_data(copy).train.fingerprint() == known
    other = make_shards(tmp_path / "other", (5, 5, 3))
    assert open_data(other).train.fingerprint() != known
    train = open_data(folder).train
    some = torch.tensor([1, 2])
    assert len({train.fingerprint(), train.without("a", some).fingerprint()}) == 2
    assert train.subset("a", some).fingerprint() != train.subset("a", some + 1).fingerprint()


def damage(file, start, content):
    found = bytearray(file.read_bytes())
    found[start : start + len(content)] = content
    file.write_bytes(found)


def kinds(folder):
    """What is wrong with each sample of a folder; None where nothing is."""
    train, found = open_data(folder).train, []
    for sample in range(len(train)):
        try:
            train.stored(sample)
            found.append(None)
        except UnreadableImageError as error:
            found.append(error.kind if "train-0000" in str(error) else "not named")
    return found


def test_a_shard_that_is_gone_or_damaged(folder):
    (folder / "train-00001.tar").unlink()
    assert kinds(folder) == [None] * 5 + ["missing"] * 4 + [None] * 4
    damage(folder / "train-00000.tar", 512 + 60, b"\0\0\0\0")
    assert kinds(folder)[:5] == ["truncated"] + [None] * 4
    whole = (folder / "train-00002.tar").read_bytes()
    (folder / "train-00002.tar").write_bytes(whole[:1100])
    assert kinds(folder)[-4:] == [None] + ["truncated"] * 3
    damage(folder / "train-00002.idx", 40, b"\xff")
    assert kinds(folder)[-4:] == ["truncated"] * 4
    (folder / "train-00002.idx").unlink()
    assert kinds(folder)[-4:] == ["missing"] * 4


def test_others_stand_in_for_a_shard_that_is_gone(folder):
    whole = open_data(folder).train.read(None, Draw(0, 0, torch.arange(13)))
    (folder / "train-00001.tar").unlink()
    train = open_data(folder).train
    batch = train.read(None, Draw(0, 0, torch.arange(13)))
    assert set(batch.bad[:, 0].tolist()) == {5, 6, 7, 8}
    good = torch.tensor([0, 1, 2, 3, 4, 9, 10, 11, 12])
    assert torch.equal(batch.images[good], whole.images[good])
    assert not torch.equal(batch.images[5], whole.images[5])
    own = train.read(None, Draw(0, 0, torch.arange(13)), substitute=False)
    assert own.index.tolist() == good.tolist()
    gone = train.read(None, Draw(0, 0, torch.arange(5, 9)), substitute=False)
    assert (gone.images.shape[0], len(gone.index)) == (0, 0)  # not one of them could be read
    assert train.marked([5, 6]).bad == {5: "missing", 6: "missing"}


def test_an_index_of_another_shard_is_not_believed(folder):
    (folder / "train-00001.idx").write_bytes((folder / "train-00002.idx").read_bytes())
    (folder / "train-00000.idx").write_bytes((folder / "train-00002.idx").read_bytes())
    found = kinds(folder)
    assert found[:5] == ["truncated"] * 5
    assert found[5:9] == ["truncated"] * 4  # as long and as many, but not these bytes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "this version reads 1"),
        ({"table": "00"}, "checksum is not the manifest's"),
        ({"splits": {}}, "no split to train on"),
        ({"lanes": -1}, "stands where a number is needed"),
    ],
)
def test_a_manifest_that_cannot_be_believed(folder, change, said):
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ValueError, match=said):
        open_data(folder)


@pytest.mark.parametrize(
    "name", ["../x.tar", "/etc/x.tar", "a/b.tar", "..tar", "x.tar\n", ".x.tar"]
)
def test_names_stay_in_the_folder(folder, name):
    import pyarrow.parquet as parquet

    from counterpoint.data.shards.shard_table import SCHEMA

    table = parquet.read_table(folder / "shards.parquet").to_pydict()
    table["name"][1] = name
    import pyarrow

    parquet.write_table(pyarrow.table(table, SCHEMA), folder / "shards.parquet", compression="none")
    content = (folder / "shards.parquet").read_bytes()
    record = json.loads((folder / "manifest.json").read_text())
    record["table"] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match="without folders"):
        open_data(folder)


def test_names_of_any_bytes_come_back(tmp_path):
    from counterpoint.data.shards.tar_writer import Record, write_shard

    names = [b"caf\xe9.jpg".decode("utf-8", "surrogateescape"), "über/x.png", ""]
    records = [Record(png(0), "PNG", name) for name in names]
    row = write_shard(tmp_path, "a.tar", "train", records, labels=False)
    content = (tmp_path / "a.idx").read_bytes()
    assert decode_names(content, row.count) == names
    assert hashlib.sha256(content).digest() == row.index_sha256
    assert np.frombuffer((tmp_path / "a.tar").read_bytes()[-1024:], np.uint8).max() == 0


def test_many_open_shards_cost_sixteen_bytes_a_record(folder, monkeypatch):
    """With more shards open than whole indices are kept, none is read whole a second time."""
    monkeypatch.setattr("counterpoint.data.shards.tar_shards.INDICES", 1)
    train = open_data(folder).train
    lengths: dict[str, list[int]] = {}
    read = type(train.store.files).read

    def counted(files, name, start=0, length=None):
        content = read(files, name, start, length)
        lengths.setdefault(name, []).append(len(content))
        return content

    monkeypatch.setattr(type(train.store.files), "read", counted)
    for n in (0, 5, 9, 1, 6, 10, 2):
        assert train.stored(n).content == png(n)
    # The third is the one that is kept.
    assert [lengths[f"train-0000{shard}.idx"][1:] for shard in range(3)] == [[16, 16], [16], []]


def test_an_index_that_changed_since_is_not_believed(folder, monkeypatch):
    monkeypatch.setattr("counterpoint.data.shards.tar_shards.INDICES", 1)
    train = open_data(folder).train
    train.stored(0), train.stored(5)  # the index of the first shard was let go
    index = folder / "train-00000.idx"
    content = bytearray(index.read_bytes())
    content[32 + 16 : 32 + 24] = (1 << 40).to_bytes(8, "little")
    index.write_bytes(content)
    with pytest.raises(UnreadableImageError, match="places outside of its tar"):
        train.stored(1)
