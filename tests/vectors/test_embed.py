"""Embedding into a folder: what is in it, and that nothing is done twice."""

import hashlib
import io
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import forked
from counterpoint import Run, open_data, open_encoder
from counterpoint.cli import main
from counterpoint.data import as_splits
from counterpoint.folder_lock import LockedError
from counterpoint.search.search_record import row_record
from counterpoint.vectors import Vectors, embed_data
from counterpoint.vectors.copies import copied
from counterpoint.vectors.embed_parts import EmbedJob
from shard_folders import make_shards, png

RUNS = Path(__file__).parent.parent / "golden" / "runs"
CLASSES = ("butterfly", "dolphin", "watch")


@pytest.fixture(scope="module")
def photos_folder(data, tmp_path_factory):
    """Sixty photos of three classes."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    for name in CLASSES:
        (folder / name).mkdir(parents=True)
        for file in sorted((data / "caltech20" / name).iterdir())[:20]:
            shutil.copy(file, folder / name)
    return folder


@pytest.fixture(scope="module")
def run():
    return Run.open(RUNS / "simclr-files")


@pytest.fixture(scope="module")
def vectors(run, photos_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("vectors") / "out"
    return embed_data(run, photos_folder, out, part_size=17, workers=0)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def test_one_size_images_of_a_damaged_shard_are_rows_that_cannot_be_read(run, tmp_path):
    folder = make_shards(tmp_path / "shards", (50, 40), shape=(3, 32, 32), picture=large)
    whole = embed_data(run, folder, tmp_path / "whole", workers=0, copies=0)
    (folder / "train-00001.tar").unlink()
    found = embed_data(run, folder, tmp_path / "found", workers=0, copies=0)
    assert len(found.unreadable) > 30
    assert {bad.error for bad in found.unreadable} == {"missing"}
    assert found.count + len(found.unreadable) == whole.count
    before = dict(zip(whole.samples.tolist(), whole.sha256, strict=True))
    assert [before[n] for n in found.samples.tolist()] == list(found.sha256)


def large(number):
    return png(number, side=32)


def test_every_row_is_what_a_loop_over_the_files_finds(run, photos_folder, vectors):
    splits = open_data(photos_folder)
    row = 0
    matrix = vectors.matrix()
    for name in ("train", "validation", "test"):
        source = getattr(splits, name)
        expected = run.embed(source, workers=0)
        for n in range(len(source)):
            file = Path(source.path(n))
            content = file.read_bytes()
            assert vectors.samples[row] == row
            assert vectors.splits[row] == name
            assert vectors.paths[row] == str(file.relative_to(photos_folder))
            assert vectors.full_path(row) == str(file)
            assert vectors.sha256[row] == hashlib.sha256(content).digest()
            assert vectors.bytes[row] == len(content)
            assert vectors.sizes[row].tolist() == [*Image.open(io.BytesIO(content)).size][::-1]
            assert vectors.classes[vectors.labels[row]] == file.parent.name
            torch.testing.assert_close(matrix[row].float(), expected[n], rtol=2**-10, atol=2**-20)
            row += 1
    assert row == vectors.count == len(matrix) == 60
    assert vectors.record.splits == {"train": 48, "validation": 6, "test": 6}
    assert sum(len(part.vectors) for part in vectors.parts()) == 60
    assert torch.equal(vectors.some([59, 3, 18]), matrix[[59, 3, 18]])


def test_files_are_found_from_another_folder(run, photos_folder, tmp_path, monkeypatch):
    """Images were opened by a relative path, and given as a value."""
    monkeypatch.chdir(photos_folder.parent)
    found = embed_data(run, open_data("photos", limit=2), tmp_path / "out", workers=0, copies=0)
    monkeypatch.chdir(tmp_path)
    assert found.file(0) == photos_folder / found.paths[0]
    assert found.file(0).is_file()


def test_images_that_were_moved_are_found_where_they_are(run, photos_folder, tmp_path):
    """They are embedded again into the same folder, and so is a run that was moved."""
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "v"
    shutil.copytree(photos_folder, old)
    shutil.copytree(RUNS / "simclr-files", tmp_path / "run")
    embed_data(Run.open(tmp_path / "run"), old, out, workers=0, copies=0)
    before = contents(out)
    old.rename(new)
    found = embed_data(run, new, out, workers=0, copies=0)
    assert contents(out) == before
    assert found.file(0) == new / found.paths[0]
    assert found.record.address.run == str(RUNS / "simclr-files")
    embed_data(run, open_data(new), out, workers=0, copies=0)
    assert Vectors.open(out).record == found.record


def test_who_reads_changes_no_byte(run, photos_folder, vectors, tmp_path):
    embed_data(run, photos_folder, tmp_path / "two", part_size=17, workers=2)
    assert contents(tmp_path / "two") == contents(vectors.folder)


COUNT = """
import sys
from counterpoint import Run
from counterpoint.data import pictures
from counterpoint.vectors import embed_data
read, real = [], pictures.read_file
pictures.read_file = lambda path: read.append(path) or real(path)
embed_data(Run.open(sys.argv[1]), sys.argv[2], sys.argv[3], workers=0, copies=0)
print(len(read), len(set(read)))
"""


def test_a_file_is_read_once(photos_folder, tmp_path):
    """In its own process: the type checks of the tests look at properties, and so read."""
    places = [str(RUNS / "simclr-files"), str(photos_folder), str(tmp_path / "once")]
    typed = [sys.executable, "-c", COUNT, *places]
    assert forked.run(typed, check=True, capture_output=True).stdout.split() == [b"60", b"60"]


def test_a_second_start_does_nothing_and_a_lost_part_is_made_again(photos_folder, tmp_path, capsys):
    typed = ["embed", str(RUNS / "simclr-files"), str(photos_folder), "--part-size", "20"]
    typed += ["--workers", "0", "--out", str(tmp_path / "v")]
    main(typed)
    assert "60 vectors of 16 numbers" in capsys.readouterr().out
    before = contents(tmp_path / "v")
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "v").iterdir()}
    main(typed)
    assert "nothing to do: all 3 parts are there" in capsys.readouterr().out
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "v").iterdir()} == times
    (tmp_path / "v" / "part-00001.parquet").unlink()
    with pytest.raises(ValueError, match=r"1 of 3 parts of .* are missing; run the same"):
        Vectors.open(tmp_path / "v")
    main(typed[:3] + typed[5:])  # the size of the parts is known from the first time
    assert contents(tmp_path / "v") == before
    now = {file: file.stat().st_mtime_ns for file in (tmp_path / "v").iterdir()}
    assert {file.name for file in now if now[file] != times[file]} == {"part-00001.parquet"}


def test_a_killed_job_goes_on(data, tmp_path):
    typed = ["embed", str(RUNS / "simclr-files"), str(data / "caltech20"), "--part-size", "20"]
    typed += ["--limit", "120", "--copies", "20", "--out"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-c", "from counterpoint.cli import main; main()", *typed]
    process = forked.Popen([*command, str(killed)])
    while len(done := [*killed.glob("part-*.parquet")]) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    times = {file.name: file.stat().st_mtime_ns for file in done}
    assert len([*killed.glob("part-*.parquet")]) < 18
    (killed / "part-00017.parquet.unfinished-abc").write_text("half")
    main([*typed, str(killed)])
    main([*typed, str(whole)])
    assert contents(killed) == contents(whole)
    assert {name: (killed / name).stat().st_mtime_ns for name in times} == times
    assert not [*killed.glob("*unfinished*")]


def test_what_cannot_be_read_has_no_vector_and_a_reason(run, photos_folder, tmp_path):
    folder = tmp_path / "photos"
    shutil.copytree(photos_folder, folder)
    names = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.jpg"))
    (folder / names[3]).write_bytes(b"")
    cut = (folder / names[30]).read_bytes()
    (folder / names[30]).write_bytes(cut[: len(cut) // 2])
    (folder / names[44]).write_bytes(b"not an image at all")
    found = embed_data(run, folder, tmp_path / "v", workers=0)
    assert found.count == len(found.matrix()) == 57
    assert {bad.path: bad.error.partition(":")[0] for bad in found.unreadable} == {
        names[3]: "empty",
        names[30]: "truncated",
        names[44]: "not an image",
    }
    assert not {bad.path for bad in found.unreadable} & {*found.paths}
    good = [row for row, path in enumerate(found.paths) if path == names[4]]
    assert torch.equal(found.some([50, 2]), found.matrix()[[50, 2]])
    whole = run.embed([str(folder / names[4])], workers=0)
    torch.testing.assert_close(found.matrix()[good].float(), whole, rtol=2**-10, atol=2**-20)


def test_images_in_memory_are_known_by_their_pixels(cifar, tmp_path):
    run = Run.open(RUNS / "byol")
    found = embed_data(run, cifar.head(30), tmp_path / "v", part_size=40)
    assert found.record.splits == {"train": 30, "validation": 30, "test": 30}
    assert found.paths == [None] * 90
    image = cifar.test.images[2]
    assert found.sha256[62] == hashlib.sha256(image.numpy().tobytes()).digest()
    assert found.labels[62] == cifar.test.labels[2]
    assert found.sizes[62].tolist() == [32, 32]
    assert found.bytes[62] == 3072
    expected = run.embed(cifar.test.first(30))
    np.testing.assert_allclose(found.matrix()[60:].float(), expected, rtol=2**-10, atol=2**-20)


@dataclass
class PartlyLabelled:
    """Twenty images, the first ten with a label; the last of all is broken."""

    images: torch.Tensor

    def __len__(self):
        return len(self.images)

    def __getitem__(self, number):
        if number == len(self) - 1:
            raise OSError("the disk is tired")
        return self.images[number], number % 2 if number < 10 else None


def test_items_without_a_label_have_none(tmp_path):
    images = torch.randint(256, (20, 3, 8, 8), generator=torch.Generator().manual_seed(0)).byte()
    run = open_encoder(encoder="small", size=8)
    made = embed_data(run, as_splits(PartlyLabelled(images)), tmp_path / "v", workers=0, copies=0)
    assert len(made.unreadable) == 1
    assert sorted(made.labels.tolist()) == [-1] * 9 + [0] * 5 + [1] * 5
    records = [row_record(made, row) for row in range(made.count)]
    assert {record["label"] for record in records} == {None, 0, 1}


def test_the_reason_of_a_name_with_a_colon_is_whole(run, photos_folder, tmp_path):
    shutil.copytree(photos_folder / "watch", tmp_path / "a: photos")
    (tmp_path / "a: photos" / "b: c.jpg").write_bytes(b"")
    found = embed_data(run, tmp_path / "a: photos", tmp_path / "v", workers=0, copies=0)
    (bad,) = found.unreadable
    assert (bad.path, bad.error) == ("b: c.jpg", "empty: the file is empty")


def test_pictures_are_found_again(data, run, photos_folder, vectors, tmp_path):
    file = Path(vectors.full_path(31))
    assert vectors.picture(31).decode(1.0).shape[1:] == tuple(vectors.sizes[31].tolist())
    moved = file.with_name("gone.jpg.txt")
    file.rename(moved)
    try:
        assert vectors.picture(31) is None
    finally:
        moved.rename(file)
    kept = embed_data(Run.open(RUNS / "byol"), data / "cifar10", tmp_path / "v", limit=5)
    splits = open_data(data / "cifar10", limit=5)
    assert torch.equal(kept.picture(11).decode(1.0), splits.test.images[1])
    with pytest.raises(ValueError, match="no vector of sample 15"):
        kept.picture(15)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run": "byol"}, "holds vectors of NarrowResNet.* by another method than"),
        ({"limit": 5}, "it had 48 images and has 5; give --out a folder other than"),
        ({"map": 0}, "by another feature map than"),
        ({"part_size": 9}, "has parts of 17 images, not 9; leave --part-size out"),
    ],
)
def test_a_folder_of_other_vectors_is_refused(photos_folder, vectors, change, said):
    opened = Run.open(RUNS / change.pop("run", "simclr-files"))
    before = contents(vectors.folder)
    with pytest.raises(ValueError, match=said):
        embed_data(opened, photos_folder, vectors.folder, **change)
    assert contents(vectors.folder) == before


def test_other_weights_are_refused(photos_folder, vectors):
    opened = Run.open(RUNS / "simclr-files")
    with torch.no_grad():
        next(opened.encoder.parameters())[0] += 1
    with pytest.raises(ValueError, match="by other weights than"):
        embed_data(opened, photos_folder, vectors.folder)


def test_of_two_encoders_given_at_once_one_writes_all_of_the_folder(photos_folder, tmp_path):
    """All three commands have looked at the folder before any of them wrote to it."""
    others = Run.open(RUNS / "simclr-files")
    with torch.no_grad():
        next(others.encoder.parameters())[0] += 1
    out = tmp_path / "out"
    first = Run.open(RUNS / "simclr-files")
    ours, same = (EmbedJob.begin(first, photos_folder, out) for _ in range(2))
    late = EmbedJob.begin(others, photos_folder, out)
    with ours.alone(0):
        with pytest.raises(LockedError, match="another --out"), same.alone(0):
            pass
        with pytest.raises(ValueError, match="by other weights than"), late.alone(0):
            pass
        (out / ".part-00000.parquet.unfinished-dead").write_text("of a worker whose node died")
        with ours.ready():
            ours.do(ours.left(), workers=0)
        made = ours.finish()
    assert made.record.encoder["weights"] == ours.record.encoder["weights"]
    assert sorted(file.name for file in out.iterdir()) == ["part-00000.parquet", "vectors.json"]


def test_copies_are_embedded_for_calibration(data, run, photos_folder, vectors, tmp_path):
    """Even for an encoder of eight steps a copy is nearer to its own image than to most others."""
    found = vectors.copies()
    assert sorted(found.samples.tolist()) == [*range(60)]
    assert sorted(found.copies.tolist()) == [*range(60)]
    made = [
        copied(vectors.picture(sample).decode(1.0), sample=sample, copy=copy)
        for sample, copy in zip(found.samples.tolist(), found.copies.tolist(), strict=True)
    ]
    expected = run.embed([copy.permute(1, 2, 0).numpy() for copy in made], workers=0)
    torch.testing.assert_close(found.vectors.float(), expected, rtol=2**-9, atol=2**-12)
    matrix = vectors.matrix().float()
    cosine = torch.cosine_similarity(found.vectors.float()[:, None], matrix[None], dim=2)
    own = cosine[torch.arange(60), found.samples]
    assert (cosine > own[:, None]).float().mean() < 0.25  # 0.5 by chance
    assert (
        len(drawn_few := embed_data(run, photos_folder, tmp_path / "v", copies=7).copies()[0]) == 7
    )
    assert torch.equal(drawn_few.sort().values, found.samples[found.copies < 7].sort().values)


def test_a_picture_that_no_jpeg_holds_has_no_copy(run, photos_folder, tmp_path):
    folder = tmp_path / "photos"
    shutil.copytree(photos_folder / "watch", folder)
    Image.new("RGB", (65_600, 4)).save(folder / "long.png")
    found = embed_data(run, folder, tmp_path / "v", workers=0)
    assert found.count == 21
    copied_ones = {found.paths[sample] for sample in found.copies().samples.tolist()}
    assert copied_ones == {*found.paths} - {"long.png"}


@pytest.mark.parametrize("name", ["part-00001.parquet", "views.parquet"])
@pytest.mark.parametrize("left", [0, 300])
def test_a_file_that_is_cut_short_is_named_and_made_again(name, left, photos_folder, tmp_path):
    run, out = Run.open(RUNS / "simclr-files"), tmp_path / "v"
    embed_data(run, photos_folder, out, part_size=20, workers=0, copies=20)
    before = contents(out)
    (out / name).write_bytes(before[name][:left])
    found = Vectors.open(out)
    said = f"{name} cannot be read; delete it and give the same counterpoint embed again"
    with pytest.raises(ValueError, match=said):
        found.copies() if name == "views.parquet" else found.matrix()
    if name != "views.parquet":
        with pytest.raises(ValueError, match=said):
            _ = found.labels
    (out / name).unlink()
    embed_data(run, photos_folder, out, workers=0, copies=20)
    assert contents(out) == before


def test_copies_of_images_of_one_size_have_their_size(cifar, tmp_path):
    run = Run.open(RUNS / "byol")
    found = embed_data(run, cifar.head(30), tmp_path / "v", copies=10).copies()
    assert len(found.samples) == len(set(found.samples.tolist())) == 10
    assert embed_data(run, cifar.head(3), tmp_path / "none", copies=0).copies() is None


def test_a_folder_of_something_else_is_refused(run, photos_folder, tmp_path):
    (tmp_path / "thesis.tex").write_text("text")
    with pytest.raises(ValueError, match=r"is not empty and has no vectors.json"):
        embed_data(run, photos_folder, tmp_path)
    with pytest.raises(FileNotFoundError, match="counterpoint embed RUN DATA --out"):
        Vectors.open(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"--out '.*/a b' writes one"):
        Vectors.open(tmp_path / "a b")


def test_values_that_fp16_cannot_hold_are_refused(photos_folder, tmp_path):
    opened = Run.open(RUNS / "simclr-files")
    with torch.no_grad():
        for parameter in opened.encoder.parameters():
            parameter *= 1e3
    with pytest.raises(ValueError, match="does not fit into fp16"):
        embed_data(opened, photos_folder, tmp_path / "v", workers=0)
