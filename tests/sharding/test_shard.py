"""counterpoint shard: mixed, checked, resumable, and the same bytes however it was made."""

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import forked
from counterpoint.cli import main
from counterpoint.data import open_data
from counterpoint.data.layouts.detect import open_encoded
from counterpoint.data.source import all_labels, read_images
from counterpoint.data.stores.local_files import LocalFiles
from counterpoint.sharding import ShardingJob
from counterpoint.sharding.part_record import PartRecord
from counterpoint.sharding.verification import verify_shards

CLASSES = ("butterfly", "dolphin", "watch")


@pytest.fixture(scope="module")
def photos_folder(data, tmp_path_factory):
    """Sixty photos of three classes; of three more one is cut short, one empty, one is text."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    for name in CLASSES:
        (folder / name).mkdir(parents=True)
        for file in sorted((data / "caltech20" / name).iterdir())[:20]:
            shutil.copy(file, folder / name)
    whole = (folder / "watch" / "image_0001.jpg").read_bytes()
    (folder / "watch" / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "watch" / "empty.jpg").write_bytes(b"")
    (folder / "dolphin" / "text.png").write_text("this is not an image")
    return folder


def made(data, out, *, workers=0, **settings):
    job = ShardingJob.begin(str(data), out, **settings)
    with job.alone():
        job.write(job.left(), workers=workers)
        return job.finish()


def test_shards_are_written_in_a_folder_that_is_held_for_them(photos_folder, tmp_path):
    job = ShardingJob.begin(str(photos_folder), tmp_path / "out", images=8)
    with pytest.raises(ValueError, match=r"belong in `with job.alone\(\):`"):
        job.write(job.left(), workers=0)
    assert not (tmp_path / "out").exists()


def test_a_shard_is_there_once_its_record_is(photos_folder, tmp_path, monkeypatch):
    """Also in a finished folder, where a worker dies before it has written the record."""
    out = tmp_path / "out"
    made(photos_folder, out, images=30)
    (out / "train-00000.tar").unlink()
    job = ShardingJob.begin(str(photos_folder), out, images=30)
    with job.alone():
        (task,) = job.left()
        with monkeypatch.context() as patched:
            patched.setattr(PartRecord, "write", lambda *_: None)
            job.write_one(task)
        assert not job.has(task)
        job.write_one(task)
        assert job.has(task)
        job.finish()


def contents(folder):
    """Every file below a folder, by name."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def shards(photos_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("shards") / "out"
    made(photos_folder, out, images=8, lanes=3)
    return out


def test_all_images_are_there_once_with_their_bytes_labels_and_splits(photos_folder, shards):
    folder, found = open_data(photos_folder), open_data(shards)
    lost = 0
    for split in ("train", "validation", "test"):
        a, b = getattr(folder, split), getattr(found, split)
        assert (a.name, a.classes, a.has_labels) == (b.name, b.classes, b.has_labels)
        labels = dict(zip([a.path(n) for n in range(len(a))], all_labels(a).tolist(), strict=True))
        paths = [str(photos_folder / b.path(n)) for n in range(len(b))]
        assert len(set(paths)) == len(paths)
        assert set(paths) <= set(labels)
        lost += len(a) - len(b)
        for n, (path, label) in enumerate(zip(paths, all_labels(b).tolist(), strict=True)):
            assert label == labels[path]
            assert b.stored(n).content == Path(path).read_bytes()
    assert lost == 3


def test_counts_are_equal_and_a_multiple_of_the_lanes(shards):
    manifest = json.loads((shards / "manifest.json").read_text())
    train = manifest["splits"]["train"]
    assert train["shards"] == 9  # 51 images of at most 8, in threes
    assert (manifest["lanes"], manifest["left_out"]) == (3, 3)
    counts = open_data(shards).train.shards.counts
    assert counts.max() - counts.min() <= 1 + 3  # three images are left out
    classes = [
        set(open_data(shards).train.labels_of(torch.arange(5 * n, 5 * n + 5)).tolist())
        for n in range(9)
    ]
    assert sum(len(some) > 1 for some in classes) >= 7, "the classes are not mixed"
    assert not [*shards.glob(".*")]


def test_what_is_left_out_is_listed(shards):
    lines = (shards / "left_out.csv").read_text().splitlines()
    assert lines[0] == "image,kind,reason"
    found = sorted(line.split(",")[:2] for line in lines[1:])
    assert found == [
        ["dolphin/text.png", "not an image"],
        ["watch/cut.jpg", "truncated"],
        ["watch/empty.jpg", "empty"],
    ]


def test_the_same_bytes_with_any_number_of_workers(photos_folder, shards, tmp_path):
    made(photos_folder, tmp_path / "two", images=8, lanes=3, workers=2)
    assert contents(tmp_path / "two") == contents(shards)


def test_the_same_bytes_after_a_kill(photos_folder, tmp_path, capsys):
    """Kill the command while shards are written: its workers end too, and the next continues."""
    out = tmp_path / "out"
    made(photos_folder, tmp_path / "whole", images=1)
    words = ["shard", str(photos_folder), str(out), "--images", "1"]
    command = [sys.executable, "-c", "from counterpoint.cli import main; main()", *words]
    for _ in range(5):  # on a crowded machine it may be done before it is killed
        shutil.rmtree(out, ignore_errors=True)
        if killed_in_time([*command, "--workers", "2"], out):
            break
    else:
        raise AssertionError("all shards were there after five kills: did workers stay behind?")
    with pytest.raises(ValueError, match="are not finished; give the same counterpoint shard"):
        open_data(out)
    times = {file: file.stat().st_mtime_ns for file in (out / ".parts").glob("*.tar.json")}
    kept = {file.stem: (out / file.stem).stat().st_mtime_ns for file in times}
    main([*words, "--workers", "0"])
    assert capsys.readouterr().out.endswith(f"next: counterpoint pretrain {out} --out run\n")
    assert {name: (out / name).stat().st_mtime_ns for name in kept} == kept, "written twice"
    assert contents(out) == contents(tmp_path / "whole")
    main(words)
    assert capsys.readouterr().out.startswith("nothing to do: all shards are there")


def killed_in_time(command, out):
    """Kill a command after its second shard, wait for its workers, and see if shards are left."""
    process = forked.Popen(command, start_new_session=True)
    while len([*out.glob("*.idx")]) < 2 and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while group_lives(process.pid):
        assert time.monotonic() < deadline, "workers stayed behind"
        time.sleep(0.01)
    return 2 <= len([*out.glob("*.idx")]) < 63


def group_lives(pid):
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_verify_finds_what_was_damaged(shards, photos_folder, tmp_path, capsys):
    out = tmp_path / "copy"
    shutil.copytree(shards, out)
    words = ["shard", str(photos_folder), str(out), "--images", "8", "--lanes", "3", "--verify"]
    main(words)
    assert "60 images" in capsys.readouterr().out
    found = bytearray((out / "train-00002.tar").read_bytes())
    found[700] ^= 1
    (out / "train-00002.tar").write_bytes(found)
    with pytest.raises(SystemExit) as stopped:
        main(words)
    said = str(stopped.value)
    assert "train-00002.tar: its SHA-256 is not the table's" in said
    assert "train-00002.tar: the checksum of record 0 is wrong" in said
    assert "delete the files that are named and give the same command again" in said
    (out / "train-00002.tar").unlink()
    main(words)
    assert contents(out) == contents(shards)


def test_verifying_names_a_file_that_is_gone(shards, tmp_path):
    shutil.copytree(shards, tmp_path / "copy")
    (tmp_path / "copy" / "test-00000.idx").unlink()
    wrong = [
        line
        for check in verify_shards(LocalFiles(tmp_path / "copy"), workers=0)
        for line in check.wrong
    ]
    assert any(line.endswith("test-00000.idx: the file is gone") for line in wrong)


@pytest.mark.parametrize("gone", ["validation-00000.tar", "train-00004.idx"])
def test_files_that_are_gone_are_written_again(shards, photos_folder, tmp_path, capsys, gone):
    out = tmp_path / "copy"
    shutil.copytree(shards, out)
    (out / gone).unlink()
    main(["shard", str(photos_folder), str(out), "--images", "8", "--lanes", "3", "--workers", "0"])
    assert "nothing to do" not in capsys.readouterr().out
    assert contents(out) == contents(shards)


def test_a_shard_that_is_gone_before_the_manifest_is_written_again(photos_folder, shards, tmp_path):
    job = ShardingJob.begin(str(photos_folder), tmp_path / "out", images=8, lanes=3)
    with job.alone():
        job.write(job.left(), workers=0)
    (tmp_path / "out" / "train-00000.tar").unlink()
    assert job.left() == [("train", 0)]
    assert contents(tmp_path / "out") != contents(shards)
    made(photos_folder, tmp_path / "out", images=8, lanes=3)
    assert contents(tmp_path / "out") == contents(shards)


def test_a_shard_with_other_bytes_than_before_is_refused(shards, photos_folder, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(shards, out)
    (out / "test-00000.tar").unlink()
    job = ShardingJob.begin(str(photos_folder), out, images=8, lanes=3)
    with job.alone():
        job.write(job.left(), workers=0)
    place = out / ".parts" / "test-00000.tar.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"sha256": "00" * 32}))
    with pytest.raises(
        ValueError, match=r"test-00000\.tar was gone, and written again it has other"
    ):
        job.finish()


def test_a_folder_that_was_made_and_nothing_more_is_taken(photos_folder, tmp_path):
    (tmp_path / "out" / ".parts").mkdir(parents=True)
    assert ShardingJob.begin(str(photos_folder), tmp_path / "out").left()


def test_no_images_to_train_on_are_refused(tmp_path):
    np.save(tmp_path / "none.npy", np.zeros((0, 8, 8, 3), np.uint8))
    with pytest.raises(ValueError, match="has no images to train on; needs one or more"):
        made(tmp_path / "none.npy", tmp_path / "out")
    (tmp_path / "broken").mkdir()
    for n in range(5):
        (tmp_path / "broken" / f"{n}.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match=r"train can be decoded; .*left_out\.csv says why"):
        made(tmp_path / "broken", tmp_path / "shards")
    assert not (tmp_path / "shards" / "manifest.json").exists()
    assert len((tmp_path / "shards" / "left_out.csv").read_text().splitlines()) >= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{data}", "{data}/out"], "whose images it would hold"),
        (["{data}", "{data}"], "whose images it would hold"),
        (["{data}", "{shards}", "--images", "9"], "has shards of other images, or in other"),
        (["{data}", "{full}"], "is not empty"),
        (["{data}", "{full}/x", "--lanes", "0"], "needs to be 1 or more"),
    ],
)
def test_mistakes_are_one_line(words, said, photos_folder, shards, tmp_path):
    (tmp_path / "something").write_text("mine")
    places = {"data": photos_folder, "shards": shards, "full": tmp_path}
    with pytest.raises(SystemExit) as stopped:
        main(["shard", *(word.format(**places) for word in words)])
    error = str(stopped.value)
    assert said in error
    assert len(error.splitlines()) == 1


def test_rows_of_parquet_keep_their_bytes(data, tmp_path):
    """CIFAR-10: the encoded rows are taken, and training sees what it would have seen."""
    import pyarrow.parquet as parquet

    (tmp_path / "small").mkdir()
    for split in ("train", "test"):
        (file,) = (data / "cifar10").rglob(f"{split}-*.parquet")
        some = parquet.ParquetFile(file).read_row_group(0).slice(0, 120)
        parquet.write_table(some, tmp_path / "small" / f"{split}.parquet")
    made(tmp_path / "small", tmp_path / "out", images=30)
    rows, memory = open_encoded(tmp_path / "small"), open_data(tmp_path / "small")
    found = open_data(tmp_path / "out")
    assert found.train.one_shape == (3, 32, 32)
    for split in ("train", "validation", "test"):
        a, b, c = (getattr(some, split) for some in (rows, found, memory))
        known = {hashlib.sha256(a.stored(n).content).digest(): n for n in range(len(a))}
        order = [known[hashlib.sha256(b.stored(n).content).digest()] for n in range(len(b))]
        assert sorted(order) == list(range(len(a)))
        every = torch.arange(len(b))
        assert torch.equal(read_images(b, every), read_images(c, torch.tensor(order)))
        assert torch.equal(all_labels(b), all_labels(c)[torch.tensor(order)])


@pytest.mark.parametrize("channels", [1, 3])
def test_arrays_become_png(tmp_path, channels):
    shape = (40, 8, 8, channels)[: 3 + (channels == 3)]
    images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    made(tmp_path / "images.npy", tmp_path / "out")
    a, b = open_data(tmp_path / "images.npy").train, open_data(tmp_path / "out").train
    assert a.one_shape == b.one_shape
    order = torch.tensor([int(b.path(n).removeprefix("train/")) for n in range(len(b))])
    assert torch.equal(read_images(b, torch.arange(40)), read_images(a, order))


def test_shards_are_sharded_again(shards, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # wherever one is, names stay those of the images
    made(shards, tmp_path / "again", images=20, seed=1)
    a, b = open_data(shards).train, open_data(tmp_path / "again").train
    assert {a.path(n) for n in range(len(a))} == {b.path(n) for n in range(len(b))}
    assert sorted(a.path(n) for n in range(len(a))) != [a.path(n) for n in range(len(a))]
    assert {a.stored(n).content for n in range(len(a))} == {
        b.stored(n).content for n in range(len(b))
    }


def test_pictures_of_one_size_in_a_folder_are_still_files(tmp_path):
    """As of the folder: the method's views cut them."""
    (tmp_path / "a").mkdir()
    for n in range(12):
        Image.fromarray(np.full((8, 8, 3), n, np.uint8)).save(tmp_path / "a" / f"{n}.png")
    made(tmp_path / "a", tmp_path / "out")
    assert open_data(tmp_path / "out").train.one_shape is None
