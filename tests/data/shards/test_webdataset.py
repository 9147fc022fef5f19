"""Tars in webdataset's layout: headers as tarfile knows them, samples, labels, the index."""

import gzip
import io
import os
import pickle
import tarfile

import pytest
import torch

from counterpoint.data import open_data
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.shards.shard_source import ShardSource
from counterpoint.data.shards.tar_writer import Record, write_shard
from counterpoint.data.shards.webdataset_headers import BLOCK, tar_members
from counterpoint.data.shards.webdataset_samples import tar_samples
from counterpoint.data.source import all_labels
from counterpoint.data.stores.local_files import LocalFiles
from data.shards.packs import add, pack_tar, photo_files


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(place))
    return place


def tar_of(members, form=tarfile.USTAR_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as tar:
        for name, content, more in members:
            add(tar, name, content, **more)
    return buffer.getvalue()


def walk(data):
    return list(tar_members(lambda start, length: data[start : start + length], len(data)))


def samples(data):
    def read(start, length):
        return data[start : start + length]

    return tar_samples(tar_members(read, len(data)), read)


FORMS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


@pytest.mark.parametrize("form", FORMS)
def test_the_members_are_those_of_tarfile(form):
    long = "d" * 90 if form == tarfile.USTAR_FORMAT else "ü" * 150
    members = []
    for n in range(60):
        members.append((f"{long[: n * 2]}/{n:06d}.jpg", bytes(n * 37), {}))
        if n % 5 == 0:
            members.append((f"link{n}", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}))
            members.append((f"hard{n}", b"", {"type": tarfile.LNKTYPE, "linkname": "a.jpg"}))
            members.append((f"dir{n}", b"", {"type": tarfile.DIRTYPE}))
            members.append((f"pipe{n}", b"", {"type": tarfile.FIFOTYPE}))
            members.append((f"tty{n}", b"", {"type": tarfile.CHRTYPE}))
    data = tar_of(members, form)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        theirs = [(m.name, m.offset_data, m.size) for m in tar if m.isreg()]
    assert [(name.decode(), start, size) for name, start, size in walk(data)] == theirs
    assert len(theirs) == 60


def test_sparse_members_are_passed_over():
    whole = tar_of([("a.jpg", b"a", {}), ("b.jpg", b"b" * 600, {}), ("c.jpg", b"c", {})])
    header = bytearray(whole[2 * BLOCK : 3 * BLOCK])
    header[156:157], header[482] = b"S", 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    more = bytearray(BLOCK)
    more[504] = 1  # the map goes on for one block more
    sparse = whole[: 2 * BLOCK] + header + more + bytes(BLOCK) + whole[3 * BLOCK :]
    assert [member.name for member in walk(sparse)] == [b"a.jpg", b"c.jpg"]


def test_a_size_that_fits_no_octal_number_is_read(monkeypatch):
    """Above 8 GiB: GNU writes the number as bytes, PAX as a record."""
    data = bytearray(tar_of([("a.jpg", b"12345", {})]))
    data[124:136] = b"\x80" + (5).to_bytes(11, "big")
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:BLOCK])
    assert walk(bytes(data))[0].size == 5
    data[124:136] = b"\xff" * 12  # negative
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:BLOCK])
    with pytest.raises(ValueError, match="not one"):
        walk(bytes(data))


def test_samples_are_members_of_one_key():
    found = samples(
        tar_of(
            [
                ("a/1.mask.png", b"mask", {}),
                ("a/1.JPG", b"photo", {}),
                ("a/1.cls", b" 7\n", {}),
                ("a/1.pyd", b"never read", {}),
                ("2.json", b'{"cls": 3, "label": true}', {}),
                ("2.jpg", b"two", {}),
                ("text.txt", b"no image", {}),
                ("._2.jpg", b"of macOS", {}),
                ("../../3.png", b"three", {}),
                ("../../3.cls", b"5", {}),
            ]
        )
    )
    assert found.names == ["a/1.JPG", "2.jpg", "3.png"]
    assert found.labels == [7, 3, 5]
    assert found.sizes == [5, 3, 5]
    assert found.others == 1


@pytest.mark.parametrize(
    "label",
    [
        *(("cls", b"-1"), ("cls", b"dog"), ("cls", b"9" * 21), ("cls", b"3000000000")),
        *(("json", b"[" * 50_000), ("json", b'{"label": 1.5}'), ("json", b'{"label": true}')),
        *(("json", b"\xff"), ("json", b"7"), ("json", b'{"label": 1' + b"0" * 5000 + b"}")),
        *(("json", b'{"label": 1}' + b" " * (1 << 16)), ("pyd", b"1"), ("txt", b"1")),
    ],
)
def test_what_is_no_label(label):
    suffix, content = label
    found = samples(tar_of([("1.jpg", b"x", {}), (f"1.{suffix}", content, {})]))
    assert (found.names, found.labels, found.has_labels) == (["1.jpg"], [], False)


@pytest.fixture(scope="module")
def packed(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("packed") / "photos"
    photos, classes = photo_files(data)
    mixed = [photos[(n * 71) % len(photos)] for n in range(len(photos))]
    parts = [mixed[:50], mixed[50:53], mixed[53:]]
    for number, part in enumerate(parts):
        label, form = ("cls", "json", "cls")[number], FORMS[number]
        pack_tar(place / f"photos-{number:06d}.tar", part, label=label, form=form)
    return place, mixed, classes


def test_every_photo_comes_once_with_its_label(packed):
    place, photos, classes = packed
    splits = open_data(place)
    held = len(photos) // 10
    assert repr(splits) == (
        f"photos train: {len(photos) - 2 * held} images in tars, {len(classes)} classes, "
        f"{held} to choose by, {held} to score"
    )
    found = []
    for part in (splits.train, splits.validation, splits.test):
        assert isinstance(part, ShardSource)
        labels = all_labels(part).tolist()
        found += [(part.stored(n).content, labels[n]) for n in range(len(part))]
    assert sorted(found) == sorted((file.read_bytes(), label) for file, label in photos)
    first = splits.train.path(0)
    assert first.startswith(f"{place}/photos-000000.tar/0000")


class Counted(LocalFiles):
    """Files that note what is read of tars."""

    def read(self, name, start=0, length=None):
        COUNTED.append((name, length))
        return super().read(name, start, length)


COUNTED = []


def test_a_second_start_reads_no_tar(packed, monkeypatch):
    from counterpoint.data.layouts import tars

    place, _, _ = packed
    monkeypatch.setattr(tars, "LocalFiles", Counted)
    COUNTED.clear()
    first = open_data(place)
    assert {name for name, _ in COUNTED} == {f"photos-{n:06d}.tar" for n in range(3)}
    COUNTED.clear()
    again = open_data(place)
    assert COUNTED == []
    assert again.train.stored(3).content == first.train.stored(3).content
    assert all(length < 100_000 for _, length in COUNTED)  # an image, and no whole tar
    assert again.train.fingerprint() == first.train.fingerprint()
    assert again.train.fingerprint() != again.test.fingerprint()


def test_without_a_cache_it_works_as_well(packed, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "file" / "below"))
    assert open_data(packed[0]).train.stored(0).content[:2] == b"\xff\xd8"


def test_a_tar_that_changes_is_indexed_anew(packed, tmp_path):
    _, photos, _ = packed
    pack_tar(tmp_path / "a.tar", photos[:20])
    before = open_data(tmp_path)
    pack_tar(tmp_path / "a.tar", photos[20:50])
    os.utime(tmp_path / "a.tar", ns=(1, 1))
    after = open_data(tmp_path)
    assert (len(before.train), len(after.train)) == (16, 24)
    assert after.train.fingerprint() != before.train.fingerprint()
    with pytest.raises(UnreadableImageError, match="had 20 when it was opened"):
        before.train.stored(0)


def test_an_index_of_ours_beside_a_tar_is_used(packed, tmp_path, monkeypatch):
    from counterpoint.data.shards import webdataset_index

    _, photos, _ = packed
    records = [
        Record(f.read_bytes(), "JPEG", f"{f.parent.name}/{f.name}", n) for f, n in photos[:9]
    ]
    write_shard(tmp_path, "a.tar", "train", records, labels=True)
    monkeypatch.setattr(webdataset_index, "index_tar", None)
    train = open_data(tmp_path).train
    assert all_labels(train).tolist() == [label for _, label in photos[:9]]
    assert train.path(3).endswith(f"a.tar/{photos[3][0].parent.name}/{photos[3][0].name}")
    (tmp_path / "a.idx").write_bytes((tmp_path / "a.idx").read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"the index .*a.idx is damaged: .*; delete it"):
        open_data(tmp_path)


def test_splits_by_name(packed, tmp_path):
    _, photos, _ = packed
    pack_tar(tmp_path / "train-000000.tar", photos[:30])
    pack_tar(tmp_path / "train-000001.tar", photos[30:40])
    pack_tar(tmp_path / "val-000000.tar", photos[40:50])
    pack_tar(tmp_path / "test-000000.tar", photos[50:55])
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [40, 10, 5]
    assert splits.train.stored(31).content == photos[31][0].read_bytes()  # nothing is permuted
    assert splits.test.stored(4).content == photos[54][0].read_bytes()
    one = open_data(tmp_path / "val-000000.tar")
    assert [len(s) for s in (one.train, one.validation, one.test)] == [8, 1, 1]
    for name in ("train", "val"):
        (tmp_path / "below" / name).mkdir(parents=True)
        for file in tmp_path.glob(f"{name}-*.tar"):
            file.rename(tmp_path / "below" / name / file.name)
    below = open_data(tmp_path / "below")
    assert [len(s) for s in (below.train, below.validation, below.test)] == [36, 4, 10]


def test_labels_are_there_only_where_all_are(packed, tmp_path):
    _, photos, _ = packed
    pack_tar(tmp_path / "a.tar", photos[:10])
    pack_tar(tmp_path / "b.tar", photos[10:20], label="none")
    splits = open_data(tmp_path)
    assert not splits.train.has_labels
    assert len(splits.train) == 20


def test_a_folder_of_images_with_an_archive_in_it_stays_one(packed, tmp_path, data):
    _, photos, _ = packed
    for file, _ in photos[:12]:
        (tmp_path / file.parent.name).mkdir(exist_ok=True)
        (tmp_path / file.parent.name / file.name).symlink_to(file)
    pack_tar(tmp_path / "backup.tar", photos[:3])
    assert isinstance(open_data(tmp_path).train, EncodedSource)


def test_compressed_tars_are_refused_in_one_line(packed, tmp_path):
    place, _, _ = packed
    content = (place / "photos-000001.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=r"a.tar is compressed \(gzip\).*gunzip"):
        open_data(tmp_path)
    (tmp_path / "a.tar").rename(tmp_path / "a-000.tar.gz")
    for there in (tmp_path, tmp_path / "a-000.tar.gz"):
        with pytest.raises(
            ValueError, match=r"^data: .*a-000.tar.gz is compressed.*gunzip [^\n]*$"
        ):
            open_data(there)


def test_a_tar_that_is_cut_short_is_named(packed, tmp_path):
    place, _, _ = packed
    content = (place / "photos-000000.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"data: .*a.tar is not a whole tar: .*download it again"):
        open_data(tmp_path)
    (tmp_path / "a.tar").write_bytes(content[:5000] + b"\1" * 3000 + content[8000:])
    with pytest.raises(ValueError, match="is not a whole tar"):
        open_data(tmp_path)
    (tmp_path / "a.tar").write_bytes(bytes(10_240))
    with pytest.raises(FileNotFoundError, match=r"no .jpg.* members in"):
        open_data(tmp_path)


class Evil:
    def __reduce__(self):
        return os.system, ("touch " + os.environ["CANARY"],)


def test_nothing_is_ever_unpickled(packed, tmp_path, monkeypatch):
    monkeypatch.setenv("CANARY", str(tmp_path / "ran"))
    _, photos, _ = packed
    evil = pickle.dumps(Evil())
    tars = tmp_path / "tars"
    tars.mkdir()
    with tarfile.open(tars / "a.tar", "w") as tar:
        for number, (file, _) in enumerate(photos[:5]):
            add(tar, f"{number}.jpg", file.read_bytes())
            for suffix in ("pyd", "pkl", "pickle", "npy", "pth", "cls", "json"):
                add(tar, f"{number}.{suffix}", evil)
    train = open_data(tars).train
    assert [train.stored(n).content for n in range(5)] == [f.read_bytes() for f, _ in photos[:5]]
    assert not train.has_labels
    assert not (tmp_path / "ran").exists()


def test_a_store_goes_to_another_process(packed):
    train = open_data(packed[0]).train
    train.stored(0)
    copy = pickle.loads(pickle.dumps(train))
    some = torch.tensor([0, 60, 100])
    assert torch.equal(copy.labels_of(some), train.labels_of(some))
    assert copy.stored(60).content == train.stored(60).content
