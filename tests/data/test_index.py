"""The index of a folder: what is in it, when it is made anew, and that it is quick."""

import multiprocessing
import os
import pickle
import time

import pytest
import torch

from counterpoint.data import image_files, open_data
from counterpoint.data import indexing as indexing_module
from counterpoint.data import listing as listing_module
from counterpoint.data.encoded_source import EncodedSource
from counterpoint.data.indexing import index_of, kept_index
from counterpoint.data.listing import TICK, list_images
from counterpoint.data.source import all_labels
from counterpoint.framework.philox import keyed_order


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "photos"
    place.mkdir()
    return place


def fill(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())


def names(files):
    return [str(path.relative_to(files.store.root)) for path in files.paths]


def no_listing(*_arguments):
    raise AssertionError("the folder was read again")


def linked(root, *, count, each=1_000):
    """Make many files of few: hard links, of which a file may have 65,000."""
    for first in range(0, count, each):
        below = root / f"{first // each:04d}"
        below.mkdir()
        original = below / "000000.jpg"
        original.write_bytes(b"an image")
        for number in range(1, min(each, count - first)):
            os.link(original, below / f"{number:06d}.jpg")


def second_opening(root):
    """Open twice; give the seconds of the second time, and the split."""
    open_data(root)
    started = time.perf_counter()
    splits = open_data(root)
    said = repr(splits)
    return time.perf_counter() - started, splits, said


def test_twenty_thousand_files_are_not_read_again(root, monkeypatch):
    linked(root, count=20_000)
    open_data(root)
    asked = []
    ask = os.stat
    monkeypatch.setattr(os, "stat", lambda *a, **k: asked.append(a) or ask(*a, **k))
    monkeypatch.setattr(os, "scandir", no_listing)
    seconds, splits, said = second_opening(root)
    assert said == (
        "photos train: 16,000 image files, 20 folders, 2,000 to choose by, 2,000 to score"
    )
    assert seconds < 0.5  # measured: 0.02 s
    assert len(asked) < 500  # the folders, twice; not the files
    splits.train.fingerprint()
    assert len(asked) < 500


@pytest.mark.full
def test_a_million_files_open_in_under_two_seconds(root):
    linked(root, count=1_000_000)
    seconds, splits, said = second_opening(root)
    assert said.startswith("photos train: 800,000 image files, 1000 folders")
    assert seconds < 2
    assert splits.train.paths[-1].is_file()


def test_a_flat_folder_is_not_searched_for_other_layouts(root, monkeypatch):
    fill(root, *(f"{number}.jpg" for number in range(50)))
    open_data(root)
    monkeypatch.setattr(os, "scandir", no_listing)
    assert len(open_data(root).train) == 50
    fill(root, "train-0.parquet")
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"data: .*train-0.parquet is not a readable Parquet file"):
        open_data(root)


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_adding_removing_and_renaming_is_noticed(root, pause):
    fill(root, "a/1.jpg", "b/deep/2.jpg")

    def now():
        time.sleep(pause)
        return names(image_files(root))

    assert now() == ["a/1.jpg", "b/deep/2.jpg"]
    for number in range(10):
        fill(root, f"b/deep/{number}.png")
        assert f"b/deep/{number}.png" in now()
        (root / f"b/deep/{number}.png").unlink()
        assert now() == ["a/1.jpg", "b/deep/2.jpg"]
    (root / "a/1.jpg").rename(root / "a/0.jpg")
    assert now() == ["a/0.jpg", "b/deep/2.jpg"]
    (root / "b").rename(root / "c")
    assert now() == ["a/0.jpg", "c/deep/2.jpg"]
    fill(root, "new/folder/3.webp")
    assert now() == ["a/0.jpg", "c/deep/2.jpg", "new/folder/3.webp"]


def test_a_folder_that_was_changed_just_now_is_read_when_another_change_would_show(root):
    """Two changes within a tick of the clock have one time: the second could go unnoticed."""
    for number in range(5):
        fill(root, f"{number}.jpg")
        list_images(root)
        assert time.time_ns() - root.stat().st_mtime_ns >= TICK


def test_the_order_and_the_split_are_those_of_sorted_paths(data, root):
    tricky = ("a/b.jpg", "a-b/c.jpg", "a.jpg", "a/B.jpg", "a b/d.jpg", "ä/e.jpg", "a/b/c.jpg")
    fill(root, *tricky)
    assert list(image_files(root).paths) == sorted(root / name for name in tricky)
    place = data / "caltech20"
    paths = sorted(path for path in place.rglob("*") if path.suffix == ".jpg")
    order = keyed_order(1490, seed=0, epoch=0)
    splits = open_data(place)
    chosen = [order[:1192], order[1192:1341], order[1341:]]
    for part, expected in zip((splits.train, splits.validation, splits.test), chosen, strict=True):
        assert list(part.paths) == [paths[n] for n in expected.sort().values.tolist()]
        assert [part.classes[label] for label in all_labels(part).tolist()] == [
            path.parent.name for path in part.paths
        ]


def work(root, made, index_of):
    index = index_of(root)
    made.append(len(index.files))


def build_slowly(root, log, make):
    with log.open("a") as file:
        file.write("built\n")
    time.sleep(0.3)
    return make(root)


def test_of_several_ranks_one_makes_the_index_and_the_others_wait(root, tmp_path, monkeypatch):
    fill(root, *(f"{number}.jpg" for number in range(30)))
    log, make = tmp_path / "log", indexing_module.make_index
    monkeypatch.setattr(indexing_module, "make_index", lambda r: build_slowly(r, log, make))
    fork = multiprocessing.get_context("fork")
    with fork.Manager() as manager:
        made = manager.list()
        ranks = [fork.Process(target=work, args=(root, made, index_of)) for _ in range(4)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        assert list(made) == [30] * 4
    assert log.read_text() == "built\n"


def test_a_cache_that_cannot_be_written_is_no_error(root, cache):
    fill(root, "1.jpg")
    cache.write_bytes(b"a file where the folder should be")
    for _ in range(2):
        assert names(image_files(root)) == ["1.jpg"]


@pytest.mark.parametrize("left", [0, 7, 200])
def test_a_torn_index_is_made_anew(root, cache, left):
    fill(root, "1.jpg", "2.jpg")
    image_files(root)
    (file,) = cache.glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:left])
    assert names(image_files(root)) == ["1.jpg", "2.jpg"]
    assert kept_index(root) is not None
    assert not [p for p in cache.iterdir() if p.suffix not in (".safetensors", ".lock")]


def test_an_index_belongs_to_its_folder(root, tmp_path):
    fill(root, "1.jpg")
    other = tmp_path / "other"
    fill(other, "2.jpg")
    assert names(image_files(root)) == ["1.jpg"]
    assert names(image_files(other)) == ["2.jpg"]


def test_names_that_are_no_text(root):
    strange = [b"caf\xe9", b"line\nbreak", b"\xff\xfe", "雪".encode()]
    for name in strange:
        below = root / os.fsdecode(name)
        below.mkdir()
        (below / os.fsdecode(name + b".jpg")).write_bytes(b"data")
    for _ in range(2):  # made, and read back
        files = image_files(root)
        assert sorted(os.fsencode(path.name) for path in files.paths) == sorted(
            name + b".jpg" for name in strange
        )
        assert all(path.read_bytes() == b"data" for path in files.paths)
        assert files.classes == ("caf\\xe9", "line\nbreak", "雪", "\\xff\\xfe")
        assert files.fingerprint() == image_files(root).fingerprint()
        repr(files).encode()


def test_hidden_files_are_left_out(root):
    fill(root, "1.jpg", "._1.jpg", ".cache/2.jpg", ".hidden.png", "sub/._3.jpg", "sub/3.JPeG")
    assert names(image_files(root)) == ["1.jpg", "sub/3.JPeG"]
    (root / "1.jpg").unlink()
    (root / "sub/3.JPeG").unlink()
    with pytest.raises(FileNotFoundError, match="hidden files and folders were left out"):
        image_files(root)


def test_what_is_no_image_is_left_out(root):
    fill(root, "1.jpg", "notes.txt", "jpg", "2.jpg.part", "folder.jpg/3.png")
    os.mkfifo(root / "pipe.jpg")
    assert names(image_files(root)) == ["1.jpg", "folder.jpg/3.png"]


def test_links_are_followed_once(root, tmp_path):
    fill(root, "real/1.jpg")
    fill(tmp_path / "elsewhere", "deep/2.jpg")
    (root / "a-loop").symlink_to(root)  # back to where we are
    (root / "real/up").symlink_to(root / "real")
    (root / "itself.jpg").symlink_to(root / "itself.jpg")
    (root / "nowhere.jpg").symlink_to(tmp_path / "no.jpg")
    (root / "again").symlink_to(root / "real")  # sorted before it; still known by its own name
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "linked-too").symlink_to(tmp_path / "elsewhere")
    (root / "file.jpg").symlink_to(root / "real/1.jpg")
    assert names(image_files(root)) == ["file.jpg", "linked/deep/2.jpg", "real/1.jpg"]
    fill(tmp_path / "elsewhere", "deep/3.jpg")
    assert "linked/deep/3.jpg" in names(image_files(root))


def test_a_folder_that_may_not_be_read_is_noted(root, monkeypatch):
    fill(root, "open/1.jpg", "shut/2.jpg")
    scan = os.scandir

    def refusing(path):
        if os.fsencode(path).endswith(b"shut"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(listing_module.os, "scandir", refusing)
    assert list_images(root).unreadable == [b"shut"]
    files = image_files(root)
    assert names(files) == ["open/1.jpg"]
    assert kept_index(root).unreadable == ("shut",)
    monkeypatch.undo()
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(root.parent / "cache"))
    (root / "shut").chmod(0o700)  # its content is as old as before, its permissions are not
    assert names(image_files(root)) == ["open/1.jpg", "shut/2.jpg"]


def test_the_folder_itself_may_not_be_read(root, monkeypatch):
    def refusing(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(listing_module.os, "scandir", refusing)
    with pytest.raises(ValueError, match="may not be read"):
        image_files(root)


def test_paths_are_a_sequence(root):
    fill(root, *(f"{number}.jpg" for number in range(5)))
    files = image_files(root)
    assert len(files.paths) == 5
    assert files.paths[-1] == root / "4.jpg"
    assert [path.name for path in files.paths[1:3]] == ["1.jpg", "2.jpg"]
    assert root / "3.jpg" in files.paths
    with pytest.raises(IndexError):
        files.paths[5]
    some = files.subset("some", torch.tensor([4, 0]))
    assert [path.name for path in some.paths] == ["4.jpg", "0.jpg"]
    again = pickle.loads(pickle.dumps(some))
    assert isinstance(again, EncodedSource)
    assert list(again.paths) == list(some.paths)


def test_bad_samples_keep_their_place_in_a_subset(root):
    fill(root, *(f"{number}.jpg" for number in range(9)))
    splits = open_data(root, known_bad={2, 7})
    assert set(splits.train.bad) == {2, 7}
    assert repr(splits.train) == "photos train: 9 image files, no labels, 2 of them bad"
    some = splits.train.subset("some", torch.tensor([7, 1, 2, 8]))
    assert set(some.bad) == {0, 2}
    assert [some.paths[n].name for n in some.bad] == ["7.jpg", "2.jpg"]
    assert open_data(root, known_bad={2, 7}, limit=5).train.bad.keys() == {2}
    with pytest.raises(ValueError, match=r"got sample 9 as known to be bad.*was the data changed"):
        open_data(root, known_bad=[9])


def test_an_empty_split_says_so(root):
    fill(root, "a/1.jpg", "b/2.jpg")
    splits = open_data(root)
    assert repr(splits.test) == "photos test: 0 image files, 0 folders"
