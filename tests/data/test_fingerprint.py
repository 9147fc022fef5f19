"""What a data set is known by: a copy is the same, an edit is not, and the difference is said."""

import os
import shutil
import time

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from counterpoint.data import fingerprint_difference, image_files, open_data
from counterpoint.data import identity as identity_module
from data.bombs import photo


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def photos(tmp_path):
    place = tmp_path / "photos"
    for number in range(12):
        file = place / f"class {number % 3}" / f"{number}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(photo(side=16 + number))
    return place


def copied(place, name):
    """A copy with other times, as `cp -r` makes it."""
    there = shutil.copytree(place, place.with_name(name), copy_function=shutil.copyfile)
    for path in [there, *there.rglob("*")]:
        os.utime(path, ns=(1, 1))
    return there


def test_a_copy_is_the_same_data(photos):
    splits, copy = open_data(photos), open_data(copied(photos, "copy"))
    for part in ("train", "validation", "test"):
        assert getattr(splits, part).fingerprint() == getattr(copy, part).fingerprint()
    assert splits.train.fingerprint() != splits.test.fingerprint()


def _renamed(place):
    (place / "class 1/1.jpg").rename(place / "class 1/one.jpg")


def _removed(place):
    (place / "class 1/1.jpg").unlink()


def _longer(place):
    (place / "class 1/1.jpg").write_bytes(photo(side=99))


def _same_size(place):
    file = place / "class 1/1.jpg"
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)


def _other_class(place):
    shutil.copytree(place / "class 2", place / "class 3")
    shutil.rmtree(place / "class 2")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (_renamed, "files were renamed, replaced or changed in size"),
        (_removed, "it had 12 images and has 11"),
        (_longer, "files were renamed, replaced or changed in size"),
        (_same_size, "the content of files changed, though their names and sizes did not"),
        (_other_class, "files were renamed, replaced or changed in size"),
    ],
)
def test_an_edit_is_noticed_and_said(photos, edit, said):
    before = image_files(photos).fingerprint()
    other = copied(photos, "other")
    edit(other)
    assert fingerprint_difference(before, image_files(other).fingerprint()) == said
    assert fingerprint_difference(before, before) == ""


def test_other_labels_are_noticed(photos):
    files = image_files(photos)
    known = files.fingerprint().rsplit("-", 1)[0]
    assert fingerprint_difference(f"{known}-none", files.fingerprint()) == "the labels are others"


def test_content_is_looked_at_in_a_sample_of_many_files(photos, monkeypatch):
    """The promise of the decision, so that nobody relies on more."""
    monkeypatch.setattr(identity_module, "FILES", 6)
    before = image_files(photos).fingerprint()
    noticed = []
    for file in image_files(photos).paths:
        content = file.read_bytes()
        file.write_bytes(content[:-9] + b"x" + content[-8:])
        noticed.append(image_files(photos).fingerprint() != before)
        file.write_bytes(content)
    assert sum(noticed) == 6
    assert image_files(photos).fingerprint() == before


def parquet_file(file, colour=0):
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [photo("PNG", side=8 + n) for n in range(20)]
    rows[7] = photo("PNG", side=40 + colour)
    parquet.write_table(pa.table({"image": rows}), file)


def test_parquet_too(tmp_path):
    parquet_file(tmp_path / "a/train-0.parquet")
    parquet_file(tmp_path / "b/train-0.parquet", colour=1)
    before = open_data(tmp_path / "a").train.fingerprint()
    assert open_data(copied(tmp_path / "a", "copy")).train.fingerprint() == before
    assert fingerprint_difference(before, open_data(tmp_path / "b").train.fingerprint())


def test_parquet_files_are_hashed_once_and_not_for_every_row(tmp_path, monkeypatch):
    for number in range(30):
        parquet_file(tmp_path / f"train-{number:02d}.parquet")
    train = open_data(tmp_path).train
    asked = []
    read = identity_module._blocks
    monkeypatch.setattr(identity_module, "_blocks", lambda path: asked.append(path) or read(path))
    train.fingerprint()
    assert len(train) == 600
    assert len(asked) == 30


def test_many_names_are_hashed_as_arrays(tmp_path):
    """No object is made for each file."""
    place = tmp_path / "many"
    place.mkdir()
    original = tmp_path / "one.jpg"
    original.write_bytes(photo())
    for number in range(5_000):
        os.link(original, place / f"{number}.jpg")
    files = image_files(place)
    files.fingerprint()
    started = time.process_time()
    files.fingerprint()
    assert time.process_time() - started < 0.2  # of it 256 files that are read
