"""Parquet files in the Hugging Face layout: splits, columns, sizes, and rows that are broken."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import torch
from PIL import Image

import forked
from counterpoint.data import ArraySource, EncodedSource, open_data, pictures
from counterpoint.data import decoding as decoding_module
from counterpoint.data import rows as rows_module
from counterpoint.data.quarantine import substitute
from counterpoint.framework.philox import keyed_order


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(place))
    return place


def png(number, size=(12, 10)):
    pixels = np.random.default_rng(number).integers(256, size=(*size[::-1], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue(), torch.from_numpy(pixels).permute(2, 0, 1)


def write(file, encoded, *, labels=None, names=None, plain=False, column="image", **more):
    """Write a file as `datasets` does: {bytes, path}, and what the features are as metadata."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = encoded if plain else [{"bytes": b, "path": f"{n}.png"} for n, b in enumerate(encoded)]
    kind = pa.binary() if plain else pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {**more, column: pa.array(rows, kind)}
    features = {column: {"_type": "Image"}}
    if labels is not None:
        columns["label"] = pa.array(labels, pa.int64())
        features["label"] = {"_type": "ClassLabel", "names": names}
    table = pa.table(columns)
    if names is not None:
        said = json.dumps({"info": {"features": features}}).encode()
        table = table.replace_schema_metadata({"huggingface": said})
    parquet.write_table(table, file, row_group_size=7)


def encoded(count, first=0, **size):
    return [png(first + n, **size)[0] for n in range(count)]


def pixels(count, first=0):
    return torch.stack([png(first + n)[1] for n in range(count)])


@pytest.mark.parametrize("below", ["", "data"])
def test_all_three_splits(tmp_path, below):
    place = tmp_path / "flowers" / below
    names = ["rose", "tulip"]
    write(place / "train-00000-of-00002.parquet", encoded(8), labels=[0, 1] * 4, names=names)
    write(place / "train-00001-of-00002.parquet", encoded(6, 8), labels=[1, 0] * 3, names=names)
    write(place / "validation-00000-of-00001.parquet", encoded(4, 20), labels=[1] * 4, names=names)
    write(place / "test-00000-of-00001.parquet", encoded(5, 30), labels=[0] * 5, names=names)
    splits = open_data(tmp_path / "flowers")
    assert repr(splits) == (
        "flowers train: 14 images, 3 x 10 x 12, 2 classes, 4 to choose by, 5 to score"
    )
    assert torch.equal(splits.train.images, pixels(14))
    assert splits.train.labels.tolist() == [0, 1] * 4 + [1, 0] * 3
    assert splits.train.classes == ("rose", "tulip")
    assert torch.equal(splits.validation.images, pixels(4, 20))
    assert torch.equal(splits.test.images, pixels(5, 30))


def test_folders_named_for_splits(tmp_path):
    write(tmp_path / "train" / "0000.parquet", encoded(20), labels=[0, 1] * 10, names=["a", "b"])
    write(tmp_path / "test" / "0000.parquet", encoded(5, 30), labels=[0] * 5, names=["a", "b"])
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [18, 2, 5]


def test_without_test_labels_the_validation_images_are_the_test(tmp_path):
    """As of ImageNet on the Hub: the labels of its test images are -1."""
    names = ["a", "b"]
    write(tmp_path / "train-0.parquet", encoded(20), labels=[0, 1] * 10, names=names)
    write(tmp_path / "validation-0.parquet", encoded(6, 20), labels=[0, 1] * 3, names=names)
    write(tmp_path / "test-0.parquet", encoded(5, 30), labels=[-1] * 5, names=names)
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [18, 2, 6]
    assert torch.equal(splits.test.images, pixels(6, 20))


def test_a_single_file_without_labels_or_metadata(tmp_path):
    other = pa.array(["x"] * 9)
    write(tmp_path / "photos.parquet", encoded(9), plain=True, column="content", caption=other)
    for place in (tmp_path / "photos.parquet", tmp_path):
        splits = open_data(place)
        assert torch.equal(splits.train.images, pixels(9))
        assert splits.train.labels is None
        assert [len(splits.validation), len(splits.test)] == [0, 0]
    assert open_data(tmp_path / "photos.parquet").train.name == "photos train"


def test_integer_labels_without_metadata(tmp_path):
    write(tmp_path / "train.parquet", encoded(20), labels=[3, 1] * 10)
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [16, 2, 2]
    assert splits.train.classes is None
    assert "4 classes" in repr(splits.train)


def test_no_images_says_what_is_there(tmp_path):
    parquet.write_table(pa.table({"text": ["a"], "label": [1]}), tmp_path / "train-0.parquet")
    with pytest.raises(ValueError, match=r"no images in .*found text: string, label: int64"):
        open_data(tmp_path)
    (tmp_path / "train-0.parquet").rename(tmp_path / "test-0.parquet")
    with pytest.raises(FileNotFoundError, match=r"to train on, train-\*; found test-0.parquet"):
        open_data(tmp_path)


def test_a_table_beside_image_files_is_not_the_images(tmp_path):
    parquet.write_table(pa.table({"file": ["0.png"], "taken": [2024]}), tmp_path / "about.parquet")
    (tmp_path / "photos").mkdir()
    for number, content in enumerate(encoded(3)):
        (tmp_path / "photos" / f"{number}.png").write_bytes(content)
    assert len(open_data(tmp_path).train) == 3


def test_a_table_beside_parquet_of_images_is_not_the_images(tmp_path):
    """Nor is a preview: it would be the only image."""
    parquet.write_table(pa.table({"file": ["0.png"]}), tmp_path / "metadata.parquet")
    write(tmp_path / "train-0.parquet", encoded(9))
    (tmp_path / "preview.png").write_bytes(encoded(1)[0])
    with pytest.raises(ValueError, match=r"metadata\.parquet"):
        open_data(tmp_path)


def test_a_cut_file_is_named(tmp_path):
    write(tmp_path / "train-0.parquet", encoded(9))
    content = (tmp_path / "train-0.parquet").read_bytes()
    (tmp_path / "train-0.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"data: .*train-0.parquet is not a readable Parquet file"):
        open_data(tmp_path)


def test_images_of_varying_size_stay_encoded(tmp_path):
    sizes = [(12, 10), (30, 20), (9, 40)] * 7
    rows = [png(n, size)[0] for n, size in enumerate(sizes)]
    write(tmp_path / "train-0.parquet", rows[:15], labels=[0, 1, 2] * 5, names=["a", "b", "c"])
    write(tmp_path / "train-1.parquet", rows[15:], labels=[0, 1, 2] * 2, names=["a", "b", "c"])
    splits = open_data(tmp_path, known_bad=[3])
    train = splits.train
    assert isinstance(train, EncodedSource)
    assert train.store.loaded  # before workers are forked: they share it
    assert repr(train).endswith("17 image files in Parquet, 3 classes, 1 of them bad")
    assert set(train.bad) == {3}
    for sample, picture in enumerate(train.pictures(torch.arange(17))):
        row = int(train.places[sample])
        assert (picture.width, picture.height) == sizes[row]
        assert torch.equal(picture.decode(1.0), png(row, sizes[row])[1])
        assert int(train.labels_of(torch.tensor([sample]))) == row % 3
    last = int((train.places == 17).nonzero())
    assert train.paths[last] == tmp_path / "train-1.parquet" / "row 2"
    assert train.fingerprint() != splits.test.fingerprint()
    assert train.fingerprint() == open_data(tmp_path).train.fingerprint()


def test_too_many_bytes_to_decode_stay_encoded(tmp_path, monkeypatch):
    write(tmp_path / "train-0.parquet", encoded(9))
    monkeypatch.setattr(decoding_module, "MOST_BYTES", 9 * 360 - 1)
    assert isinstance(open_data(tmp_path).train, EncodedSource)
    monkeypatch.setattr(decoding_module, "MOST_BYTES", 9 * 360)
    assert isinstance(open_data(tmp_path).train, ArraySource)


def test_what_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    write(tmp_path / "train-0.parquet", encoded(9))
    monkeypatch.setattr(rows_module, "MEMORY", 1e-12)
    with pytest.raises(ValueError, match=r"GiB and are kept in memory.*to a folder as files"):
        open_data(tmp_path)


BROKEN = {"missing": None, "empty": b"", "not an image": b"<html>404</html>"}


def test_broken_rows_show_other_images(tmp_path):
    rows, labels = encoded(40), [n % 4 for n in range(40)]
    broken = {3: "missing", 11: "empty", 12: "not an image", 30: "truncated"}
    for row, kind in broken.items():
        rows[row] = BROKEN[kind] if kind in BROKEN else rows[row][:150]
    write(tmp_path / "train-0.parquet", rows, labels=labels, names=list("abcd"))
    splits = open_data(tmp_path)
    order = keyed_order(40, seed=0, epoch=0)
    chosen = order[:32].sort().values
    places = {int(row): place for place, row in enumerate(chosen)}
    expected = {places[row]: kind for row, kind in broken.items() if row in places}
    assert splits.train.bad == expected
    assert repr(splits.train).endswith(f"4 classes, {len(expected)} of them bad")
    everywhere = [len(s.bad) for s in (splits.train, splits.validation, splits.test)]
    assert sum(everywhere) == 4
    bad = set(expected)
    whole = pixels(40)
    for sample, row in enumerate(chosen.tolist()):
        shown = sample
        if sample in bad:
            shown = substitute(sample, 32, readable=lambda other: other not in bad)
        assert torch.equal(splits.train.images[sample], whole[chosen[shown]])
        assert splits.train.labels[sample] == labels[chosen[shown]]
        assert (shown == sample) == (row not in broken)


def test_all_rows_broken_is_refused(tmp_path):
    write(tmp_path / "train-0.parquet", [b"no image"] * 5)
    with pytest.raises(
        ValueError, match=r"none of the 5 images in .* can be read \(not an image\)"
    ):
        open_data(tmp_path)


def test_bad_samples_keep_their_place_in_a_subset():
    images = torch.arange(9, dtype=torch.uint8)[:, None, None, None].repeat(1, 3, 2, 2)
    source = ArraySource("nine", images, bad={2: "empty", 7: "truncated"})
    some = source.subset("some", torch.tensor([7, 1, 2, 8]))
    assert some.bad == {0: "truncated", 2: "empty"}
    assert source.subset("none", torch.tensor([0, 1])).bad == {}
    assert source.subset("empty", torch.tensor([], dtype=torch.int64)).bad == {}


@pytest.fixture(scope="module")
def broken_cifar(data, tmp_path_factory):
    """The first 3,000 and 1,000 images of CIFAR-10, one in a hundred of them broken."""
    place = tmp_path_factory.mktemp("broken") / "cifar10"
    place.mkdir()
    counts = {"train": 3_000, "test": 1_000}
    for split, count in counts.items():
        whole = parquet.read_table(data / "cifar10" / f"{split}-00000-of-00001.parquet")
        table = whole.slice(0, count)
        rows = table.column("img").to_pylist()
        for place_of, row in enumerate(range(50, count, 100)):
            content = rows[row]["bytes"]
            ways = (content[: len(content) // 2], b"", b"<html>", None)
            rows[row]["bytes"] = ways[place_of % 4]
        column = pa.array(rows, table.schema.field("img").type)
        table = table.set_column(0, "img", column).replace_schema_metadata(whole.schema.metadata)
        parquet.write_table(table, place / f"{split}-00000-of-00001.parquet")
    return place


def test_one_in_a_hundred_rows_of_cifar10_broken(broken_cifar, cifar, cache, monkeypatch):
    found = open_data(broken_cifar)
    parts = (found.train, found.validation, found.test)
    assert [len(s) for s in parts] == [2_700, 300, 1_000]
    assert sum(len(s.bad) for s in parts) == 40
    assert len(found.test.bad) == 10
    kinds = sorted(found.test.bad.values())
    assert kinds == sorted(
        ["truncated"] * 3 + ["empty"] * 3 + ["not an image"] * 2 + ["missing"] * 2
    )
    assert repr(found.test) == "cifar10: 1,000 images, 3 x 32 x 32, 10 classes, 10 of them bad"
    # What is not bad is what it was.
    sound = torch.ones(1_000, dtype=torch.bool)
    sound[list(found.test.bad)] = False
    assert torch.equal(found.test.images[sound], cifar.test.images[:1_000][sound])
    known = set(found.train.bad)
    assert_same(open_data(broken_cifar, known_bad=known), found)  # from the cache
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(cache / "cold"))
    assert_same(open_data(broken_cifar, known_bad=known), found)  # decoded anew, without these
    assert_same(open_data(broken_cifar), found)


def assert_same(splits, expected):
    for name in ("train", "validation", "test"):
        one, other = getattr(splits, name), getattr(expected, name)
        assert torch.equal(one.images, other.images)
        assert torch.equal(one.labels, other.labels)
        assert one.bad == other.bad
        assert one.fingerprint() == other.fingerprint()


def test_known_bad_rows_are_not_decoded(broken_cifar, monkeypatch):
    decode = pictures.FilePicture.decode
    read = []
    monkeypatch.setattr(
        pictures.FilePicture,
        "decode",
        lambda self, scale: read.append(Path(self.name)) or decode(self, scale),
    )
    splits = open_data(broken_cifar, known_bad=range(100))
    order = keyed_order(3_000, seed=0, epoch=0)[:2_700].sort().values
    rows = {int(path.name[4:]) for path in read if path.parent.name.startswith("train")}
    assert len(rows) > 2_800
    assert not rows & set(order[:100].tolist())
    assert len(splits.train.bad) >= 100
    bad = set(splits.train.bad)
    other = substitute(5, 2_700, readable=lambda other: other not in bad)
    assert torch.equal(splits.train.images[5], splits.train.images[other])
    # Nothing of this is kept: without the warning they are decoded again.
    assert len(open_data(broken_cifar).train.bad) < 40


@pytest.mark.parametrize("nested", [False, True])
def test_rows_that_share_an_entry_share_memory(tmp_path, nested):
    """A dictionary bomb: a small file whose 200 rows would be 20 MB; any factor is possible."""
    many = pa.array([bytes(100_000)]).take(pa.array([0] * 20))
    rows = pa.StructArray.from_arrays([many], ["bytes"]) if nested else many
    file = tmp_path / "train-0.parquet"
    table = pa.table({"image": rows})
    with parquet.ParquetWriter(file, table.schema) as writer:
        for _ in range(10):
            writer.write_table(table)
    store = rows_module.Rows((file,), "image", (200,))
    store.load()
    assert store.stored(199).content == bytes(100_000)
    assert sum(chunk.nbytes for chunk in store.loaded[0].chunks) < 2e6


def test_what_is_read_is_counted_whatever_the_file_says(tmp_path, monkeypatch):
    write(tmp_path / "train-0.parquet", [bytes([n]) * 10_000 for n in range(200)])
    monkeypatch.setattr(rows_module, "said_bytes", lambda *_: 0)
    monkeypatch.setattr(rows_module, "MEMORY", 1e6 / machine_memory())
    with pytest.raises(ValueError, match=r"are kept in memory, of which .*write them to a folder"):
        open_data(tmp_path)


def machine_memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_memory_is_that_of_all_processes_of_the_machine(tmp_path, monkeypatch):
    write(tmp_path / "train-0.parquet", [png(n, (9 + n, 9))[0] for n in range(9)])
    monkeypatch.setattr(rows_module, "MEMORY", 20_000 / machine_memory())
    assert len(open_data(tmp_path).train) == 9
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    with pytest.raises(ValueError, match="by each of 8 processes"):
        open_data(tmp_path)


def test_another_size_is_noticed_before_anything_is_decoded(tmp_path, monkeypatch):
    sizes = [(12, 10)] * 30 + [(12, 11)]
    write(tmp_path / "train-0.parquet", [png(n, size)[0] for n, size in enumerate(sizes)])
    monkeypatch.setattr(pictures.FilePicture, "decode", None)
    assert isinstance(open_data(tmp_path).train, EncodedSource)


def test_decoded_images_are_mapped_and_made_by_one_process(tmp_path, cache, monkeypatch):
    """Two processes at once: the second waits, and both map the same file."""
    write(tmp_path / "train-0.parquet", encoded(40))
    code = (
        "import sys, counterpoint.data.decoding as d; from counterpoint.data import open_data; "
        "decode = d._decode; d._decode = lambda *a: print('decoded') or decode(*a); "
        "images = open_data(sys.argv[1]).train.images; "
        "print('mapped' if '.npy' in open('/proc/self/maps').read() else 'private')"
    )
    both = [
        forked.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = "".join(one.communicate(timeout=200)[0] for one in both)
    assert sorted(said.split()) == ["decoded", "mapped", "mapped"]


def test_the_path_of_a_row(tmp_path):
    files = tuple(tmp_path / f"{n}.parquet" for n in range(4))
    rows = rows_module.Rows(files, "image", (2, 0, 3, 1))
    found = [(path.parent.stem, path.name) for path in map(rows.path, range(6))]
    assert found == [
        *(("0", "row 0"), ("0", "row 1"), ("2", "row 0")),
        *(("2", "row 1"), ("2", "row 2"), ("3", "row 0")),
    ]


def test_rows_in_memory_take_what_the_file_has(tmp_path):
    """Arrow hands each batch of a row group the dictionary of all rows before it."""
    file = tmp_path / "train-0.parquet"
    table = pa.table({"image": [{"bytes": os.urandom(1000), "path": None} for _ in range(8192)]})
    parquet.write_table(table, file, compression="none")
    found = rows_module._read_bytes((file,), "image")
    assert sum(chunk.nbytes for chunk in found.chunks) < 1.1 * file.stat().st_size
    assert found[5000] == table.column("image")[5000]["bytes"].as_py()
