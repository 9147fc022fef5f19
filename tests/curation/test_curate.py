"""counterpoint curate from images on disk to decisions, a page and links."""

import csv
import json
import os
import shutil
import sys

import pyarrow.parquet as parquet
import pytest
import torch
from PIL import Image

from counterpoint.cli import main
from counterpoint.curation.curated_folder import write_curated
from counterpoint.curation.curator import curate
from counterpoint.curation.decisions import decisions
from counterpoint.data import as_splits
from counterpoint.encoder_choice import open_encoder
from counterpoint.vectors import Vectors, embed_data

KINDS = 4  # classes
EACH = 30


def photo(kind, number):
    """Waves of a class's colour and direction, each with its own phase and a spot."""
    generator = torch.Generator().manual_seed(1_000 * kind + number)
    phase, x0, y0 = torch.rand(3, generator=generator).tolist()
    y, x = torch.meshgrid(torch.arange(48.0), torch.arange(48.0), indexing="ij")
    along = (x, y, x + y, x - y)[kind]
    wave = torch.sin(along / 4 + 6.3 * phase)
    pixels = torch.stack([wave, -wave, torch.full_like(wave, kind / 2 - 1)]) * 90 + 128
    spot = (x - 48 * x0) ** 2 + (y - 48 * y0) ** 2 < 60 + 200 * phase
    pixels[:, spot] = 255 * torch.rand(3, 1, generator=generator)
    return Image.fromarray(pixels.clamp(0, 255).byte().permute(1, 2, 0).numpy())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Splits with an equal file, a copy across splits, a wrong label and a broken file."""
    root = tmp_path_factory.mktemp("photos")
    for split, first in (("train", 0), ("test", EACH)):
        for kind in range(KINDS):
            place = root / split / f"kind{kind}"
            place.mkdir(parents=True)
            for number in range(first, first + (EACH if split == "train" else 6)):
                photo(kind, number).save(place / f"{number:03}.png")
    shutil.copy(root / "train/kind0/003.png", root / "train/kind0/900.png")
    photo(1, 33).resize((44, 44)).save(root / "train/kind1/901.png")
    shutil.copy(root / "train/kind1/901.png", root / "train/kind1/904.png")
    photo(2, 50).save(root / "train/kind0/902.png")
    (root / "train/kind3/903.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    return root


@pytest.fixture(scope="module")
def vectors(folder, tmp_path_factory):
    run = open_encoder(encoder="small", size=32)
    place = tmp_path_factory.mktemp("made") / "vectors"
    return embed_data(run, folder, place, copies=100, workers=0)


@pytest.fixture(scope="module")
def rows(vectors):
    return {row.path: row for row in decisions(curate(vectors, precision=0.8))}


def test_there_is_a_decision_for_every_file(rows, folder):
    there = {str(file.relative_to(folder)) for file in folder.rglob("*.png")}
    assert set(rows) == there
    assert {row.decision for row in rows.values()} <= {"keep", "look", "leave out"}


def test_equal_files_are_duplicates_and_one_stays(rows):
    both = [rows["train/kind0/003.png"], rows["train/kind0/900.png"]]
    gone = [row for row in both if row.decision == "leave out"]
    assert len(gone) == 1
    assert "same file as train/kind0/" in gone[0].reasons
    assert (gone[0].distance, gone[0].confidence) == (0.0, 1.0)


def test_what_cannot_be_read_is_left_out_with_the_reason(rows):
    broken = rows["train/kind3/903.png"]
    assert broken.decision == "leave out"
    assert broken.reasons.startswith("cannot be read: ")


def test_of_a_leak_the_held_out_image_stays(vectors):
    found = curate(vectors, precision=0.8)
    paths = vectors.paths
    leaks = {tuple(sorted((paths[a], paths[b]))) for a, b in found.leaks.tolist()}
    rows = {row.path: row for row in decisions(found)}
    for copy in ("train/kind1/901.png", "train/kind1/904.png"):  # the second is the first again
        assert ("test/kind1/033.png", copy) in leaks
        assert rows[copy].decision == "leave out"
        assert rows[copy].reasons == "near-duplicate of test/kind1/033.png, which is in test"


def test_a_wrong_label_is_the_first_suspect(vectors):
    found = curate(vectors)
    paths = [vectors.paths[row] for row in found.suspects.tolist()]
    assert "train/kind0/902.png" in paths[:3]


def test_files_say_what_was_decided_and_links_lead_to_what_stays(vectors, folder, tmp_path):
    found = curate(vectors, precision=0.8, select=50)
    made = decisions(found)
    out = tmp_path / "curated"
    links = write_curated(found, made, out)
    stay = {row.path for row in made if row.decision != "leave out"}
    assert links == len(stay) == 50
    linked = {str(file.relative_to(out / "images")) for file in (out / "images").rglob("*.png")}
    assert linked == stay
    for path in stay:
        assert (out / "images" / path).is_symlink()
        assert (out / "images" / path).read_bytes() == (folder / path).read_bytes()
    with (out / "decisions.csv").open() as file:
        listed = list(csv.DictReader(file))
    table = parquet.read_table(out / "decisions.parquet").to_pylist()
    assert [row["path"] for row in listed] == [row.path for row in made]
    assert [row["decision"] for row in table] == [row["decision"] for row in listed]
    record = json.loads((out / "curate.json").read_text())
    assert record["selected"] == 50
    assert sum(record["decisions"].values()) == len(made)
    low, high = record["near_duplicates"]["interval"]
    assert low <= record["near_duplicates"]["precision"] <= high
    page = (out / "gallery.html").read_text()
    assert "train/kind1/901.png" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    # Written again with another choice: no link of the first stays.
    fewer = curate(vectors, precision=0.8, select=7)
    again = write_curated(fewer, decisions(fewer), out)
    assert again == 7 == len([*(out / "images").rglob("*.png")])


def test_an_image_whose_name_is_no_text_is_linked_and_shown(tmp_path):
    """Else it stands in the way of its copy and is not there itself."""
    root = tmp_path / "photos"
    (root / os.fsdecode(b"kind\xe9")).mkdir(parents=True)
    for number in range(24):
        photo(number % KINDS, number).save(root / f"{number:02}.png")
    names = [root / os.fsdecode(name) for name in (b"kind\xe9/a.png", b"00\xe9.png", b"a\\x.png")]
    for name in names:
        shutil.copy(root / "03.png", name)
    run = open_encoder(encoder="small", size=32)
    made = embed_data(run, root, tmp_path / "vectors", copies=0, workers=0)
    rows = decisions(curate(made, select=1_000))
    links = write_curated(curate(made), rows, tmp_path / "curated")
    stay = [row for row in rows if row.decision != "leave out"]
    assert links == len(stay) == len([*(tmp_path / "curated/images").rglob("*.png")])
    equal = [row for row in rows if row.group is not None]
    assert {"kind\\xe9/a.png", "00\\xe9.png", "a\\x.png", "03.png"} <= {row.path for row in equal}
    assert all(made.picture(row.sample) is not None for row in equal)


def test_a_picture_that_was_damaged_since_has_no_thumbnail(vectors, folder, tmp_path):
    found = curate(vectors)
    file = folder / "train/kind0/900.png"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    try:
        write_curated(found, decisions(found), tmp_path / "c")
    finally:
        file.write_bytes(whole)
    assert (tmp_path / "c/gallery.html").read_text().count("no picture") == 1


@pytest.mark.parametrize("kinds", [[*range(36), *range(6), *range(6)], [*range(20), *([40] * 40)]])
def test_equal_pixels_in_other_bytes_are_duplicates(kinds, tmp_path):
    """Also where most images are equal: their distances are 0, and so is the median."""
    (root := tmp_path / "photos").mkdir()
    for place, number in enumerate(kinds):
        file = root / f"{place:02}.png"
        photo(number % KINDS, number).save(file)
        file.write_bytes(file.read_bytes() + bytes(place))
    run = open_encoder(encoder="small", size=32)
    found = curate(embed_data(run, root, tmp_path / "v", copies=0, workers=0))
    assert len(found.equal) == 0
    assert 0 < found.dimension < float("inf")
    numbers = [kinds[int(found.vectors.paths[row][:2])] for row in range(len(kinds))]
    near = {(numbers[a], numbers[b]) for a, b in found.near.ends.tolist()}
    twins = {(number, number) for number in numbers if numbers.count(number) > 1}
    assert near >= twins


def test_links_lead_to_images_that_were_given_as_a_value(folder, tmp_path):
    files = sorted((folder / "train/kind0").iterdir()) + sorted((folder / "test/kind1").iterdir())
    run = open_encoder(encoder="small", size=32)
    made = embed_data(run, as_splits([str(f) for f in files]), tmp_path / "v", copies=0, workers=0)
    found = curate(made)
    stay = {row.path for row in decisions(found) if row.decision != "leave out"}
    assert write_curated(found, decisions(found), tmp_path / "c") == len(stay) > 20
    linked = [*(tmp_path / "c/images").rglob("*.png")]
    assert {str(link.resolve()) for link in linked} == stay
    assert {link.parent.parent.name for link in linked} == {"train", "test"}


def test_why_there_is_no_link_is_said(folder, tmp_path, capsys):
    shutil.copytree(folder / "train", tmp_path / "photos")
    run = open_encoder(encoder="small", size=32)
    embed_data(run, tmp_path / "photos", tmp_path / "v", copies=0, workers=0)
    (tmp_path / "photos").rename(tmp_path / "moved")
    main(["curate", str(tmp_path / "v"), "--out", str(tmp_path / "c")])
    said = capsys.readouterr().out
    assert "images that stay have no link: their files are not there. If they were moved" in said
    assert "pretrain" not in said


def test_a_folder_among_the_images_is_refused(vectors, folder):
    """Its links would be images of the data."""
    with pytest.raises(SystemExit, match=r"out: .*few lies in .*, whose images it would hold"):
        main(["curate", str(vectors.folder), "--out", str(folder / "train/few")])
    assert not (folder / "train/few").exists()


def test_what_was_interrupted_is_written_again(vectors, tmp_path):
    found = curate(vectors)
    write_curated(found, decisions(found), tmp_path)
    (tmp_path / "curate.json").unlink()  # it is the last
    assert write_curated(found, decisions(found), tmp_path) > 0
    assert (tmp_path / "curate.json").is_file()
    (tmp_path / "note.txt").write_text("a note beside what curate wrote")
    write_curated(found, decisions(found), tmp_path)


def test_a_folder_of_images_is_not_taken_for_its_own(vectors, tmp_path):
    (tmp_path / "images").mkdir()
    found = curate(vectors)
    with pytest.raises(ValueError, match="was not written by curate"):
        write_curated(found, decisions(found), tmp_path)


def test_a_folder_with_other_things_is_refused(vectors, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    found = curate(vectors)
    with pytest.raises(ValueError, match="is not empty and was not written by curate"):
        write_curated(found, decisions(found), tmp_path)


def test_the_command_prints_and_ends_with_the_next(vectors, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["counterpoint", "curate", str(vectors.folder)])
    main()
    said = capsys.readouterr().out
    assert "near-duplicate pairs" in said
    assert f"counterpoint curate {vectors.folder} --out curated" in said
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--out", f"{tmp_path / 'my set'}/"])
    main()
    assert f"counterpoint pretrain '{tmp_path / 'my set'}/images'" in capsys.readouterr().out


def test_the_next_command_writes_what_was_shown(vectors, capsys):
    place, asked = str(vectors.folder), ["--precision", "0.5", "--select", "5", "--seed", "3"]
    main(["curate", place, *asked])
    said = capsys.readouterr().out
    assert f"counterpoint curate {place} {' '.join(asked)} --out curated" in said


def test_mistakes_are_said_in_a_line(vectors, tmp_path):
    with pytest.raises(ValueError, match="precision is 2"):
        curate(vectors, precision=2)
    with pytest.raises(ValueError, match="select is 0"):
        curate(vectors, select=0)
    with pytest.raises(FileNotFoundError, match=r"has no vectors\.json"):
        Vectors.open(tmp_path)
