"""Search: exact against loops, by an index against exact, and as people use it."""

import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from PIL import Image

from counterpoint import Run
from counterpoint.cli import main
from counterpoint.data import as_splits
from counterpoint.search import ivfpq_index, nearest_rows, nearest_vectors, search_vectors
from counterpoint.search.ivfpq_index import open_index
from counterpoint.search.nearest_vectors import recall
from counterpoint.search.query_words import find_queries
from counterpoint.vectors import Vectors, embed_data
from counterpoint.vectors.part_file import part_path, write_part
from counterpoint.vectors.stored_rows import StoredRow
from counterpoint.vectors.vectors_record import VectorsRecord
from reference.search import nearest
from report.browser import Browser, chromium

RUNS = Path(__file__).parent.parent / "golden" / "runs"


@pytest.mark.parametrize("tile", [7, 64, 10_000])
def test_exact_search_is_the_loops(tile, monkeypatch):
    monkeypatch.setattr(nearest_vectors, "TILE", tile)
    monkeypatch.setattr(nearest_vectors, "QUERIES", 4)
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(150, 12, generator=generator) * torch.rand(150, 1, generator=generator)
    queries = torch.randn(9, 12, generator=generator)
    without = torch.tensor([-1, 3, 149, 0, -1, 77, 8, 8, 140])
    for pieces in (vectors, vectors.half(), iter(vectors.split(40))):
        found = nearest_rows(queries, pieces, count=5, without=without)
        for place, expected in enumerate(nearest(queries, vectors, count=5, without=without)):
            assert found.rows[place].tolist() == [row for _, row in expected]
            cosines = torch.tensor([cosine for cosine, _ in expected])
            torch.testing.assert_close(found.cosines[place], cosines, atol=1e-3, rtol=0)


def test_fewer_vectors_than_are_asked_for():
    found = nearest_rows(torch.eye(3), torch.eye(3), count=4, without=torch.tensor([0, 1, -1]))
    assert (found.rows >= 0).sum(dim=1).tolist() == [2, 2, 3]
    assert found.cosines[2, 0] == 1
    assert found.rows[0, 2:].tolist() == [-1, -1]


def write_vectors(folder, vectors, size=5_000):
    """A folder of vectors, without images behind it."""
    encoder = {"name": "none", "address": {}, "method": "", "weights": "w", "map": None}
    record = VectorsRecord(
        encoder | {"image": [3, 8, 8]},
        {"path": None, "limit": None, "splits": {}},
        vectors.shape[1],
        len(vectors),
        {"train": len(vectors)},
        size,
    )
    folder.mkdir()
    record.write(folder)
    for part, some in enumerate(vectors.split(size)):
        rows = [StoredRow(None, None, b"0" * 32, 1, 8, 8) for _ in some]
        samples = torch.arange(part * size, part * size + len(some))
        write_part(part_path(folder, part), samples, ["train"] * len(some), rows, some)
    return Vectors.open(folder)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """10,000 vectors around 400 centres, of 32 numbers."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(400, 32, generator=generator)
    spread = 0.6 * torch.randn(10_000, 32, generator=generator)
    points = centres[torch.randint(400, (10_000,), generator=generator)] + spread
    return write_vectors(tmp_path_factory.mktemp("many") / "v", points)


def test_an_index_finds_nearly_what_exact_search_finds(many):
    queries = many.matrix()[::100].float()
    rows = torch.arange(0, 10_000, 100)
    exact = search_vectors(many, queries, count=10, without=rows)
    by_index = search_vectors(many, queries, count=10, without=rows, index="ivfpq")
    assert recall(by_index.rows, exact.rows) >= 0.95
    assert not (by_index.rows == rows[:, None]).any()
    same = by_index.rows == exact.rows
    assert same.float().mean() > 0.8
    torch.testing.assert_close(by_index.cosines[same], exact.cosines[same], atol=2e-3, rtol=0)
    known = json.loads((many.folder / "index.json").read_text())
    assert known["recall"] >= 0.97
    assert recall(by_index.rows.flip(0), exact.rows) < 0.05


def test_an_index_in_a_folder_whose_name_is_no_text(tmp_path):
    place = tmp_path / os.fsdecode(b"ve\xe9")
    made = write_vectors(place, torch.randn(300, 8, generator=torch.Generator().manual_seed(0)))
    first = open_index(made)
    again = open_index(Vectors.open(place), build=False)
    queries = made.matrix()[:3].float()
    assert torch.equal(first.nearest(queries, count=2).rows, again.nearest(queries, count=2).rows)


def test_an_index_is_kept_and_made_again_when_the_parts_change(many, tmp_path, monkeypatch):
    monkeypatch.setattr(ivfpq_index, "TRIED", 16)  # it is only a matter of which index is there
    place = tmp_path / "v"
    shutil.copytree(many.folder, place, ignore=shutil.ignore_patterns("index.*"))
    vectors = Vectors.open(place)
    assert open_index(vectors, build=False) is None
    open_index(vectors)
    made = (place / "index.faiss").stat().st_mtime_ns
    open_index(vectors)
    assert (place / "index.faiss").stat().st_mtime_ns == made
    shutil.copytree(place, tmp_path / "copy")
    assert open_index(Vectors.open(tmp_path / "copy"), build=False) is not None
    part_path(place, 0).write_bytes(part_path(place, 1).read_bytes())
    assert open_index(Vectors.open(place), build=False) is None
    open_index(Vectors.open(place))
    assert (place / "index.faiss").stat().st_mtime_ns > made


@pytest.mark.parametrize("name", ["index.faiss", "index.f16"])
@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b[:-1], lambda _: b""])
def test_a_damaged_index_says_which_file_to_delete(name, damage, tmp_path):
    place = tmp_path / "v"
    made = write_vectors(place, torch.randn(300, 8, generator=torch.Generator().manual_seed(0)))
    queries = made.matrix()[:3].float()
    first = search_vectors(made, queries, count=2, index="ivfpq")
    file = place / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=f"search: {file} is damaged.*; delete it and give the"):
        search_vectors(Vectors.open(place), queries, count=2, index="ivfpq")
    file.unlink()
    again = search_vectors(Vectors.open(place), queries, count=2, index="ivfpq")
    assert torch.equal(first.rows, again.rows)
    assert file.is_file()


@pytest.mark.parametrize("index", ["exact", "ivfpq"])
def test_no_queries_have_no_neighbours(index, tmp_path):
    made = write_vectors(tmp_path / "v", torch.randn(300, 8))
    assert search_vectors(made, torch.zeros(0, 8), count=2, index=index).rows.shape == (0, 2)


def test_an_index_that_names_vectors_which_are_not_there_is_damaged(tmp_path):
    place = tmp_path / "v"
    made = write_vectors(place, torch.randn(300, 8, generator=torch.Generator().manual_seed(0)))
    open_index(made)
    file = place / "index.faiss"
    content = file.read_bytes()
    last = (299).to_bytes(8, "little")
    assert content.count(last) == 1
    file.write_bytes(content.replace(last, (300).to_bytes(8, "little")))
    with pytest.raises(ValueError, match=f"search: {file} is damaged"):
        search_vectors(made, made.matrix()[299:].float(), count=2, index="ivfpq")


def test_the_rest_is_said(many, monkeypatch):
    with pytest.raises(ValueError, match=r"got queries of 3 numbers, .* has vectors of 32"):
        search_vectors(many, torch.eye(3))
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ValueError, match=r"pip install 'counterpoint\[search\]', or --index exact"):
        search_vectors(many, torch.ones(1, 32), index="ivfpq")


def test_from_two_million_vectors_on_there_is_an_index(many, monkeypatch):
    asked = []
    monkeypatch.setattr("counterpoint.search.vector_search.EXACT", 9_999)
    real = ivfpq_index.open_index
    monkeypatch.setattr(
        "counterpoint.search.vector_search.open_index", lambda v: asked.append(v) or real(v)
    )
    search_vectors(many, torch.ones(1, 32))
    assert asked == [many]


@pytest.fixture(scope="module")
def photos(data, tmp_path_factory):
    """Photos of three classes with their vectors."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    for name in ("butterfly", "dolphin", "watch"):
        (folder / name).mkdir(parents=True)
        for file in sorted((data / "caltech20" / name).iterdir())[:14]:
            shutil.copy(file, folder / name)
    out = tmp_path_factory.mktemp("vectors") / "v"
    return embed_data(Run.open(RUNS / "simclr-files"), folder, out, workers=0, copies=0)


def said(capsys, *words):
    main(["search", *map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_query_is_a_file_a_path_or_a_number(photos, tmp_path, capsys):
    """A photo saved again finds its original; one of the folder does not find itself."""
    root = Path(photos.record.data["path"])
    saved = tmp_path / "again.jpg"
    with Image.open(root / photos.paths[5]) as image:
        image.convert("RGB").resize((150, 120)).save(saved, quality=85)
    by_file, by_path, by_place, by_number = said(
        capsys, photos.folder, saved, photos.paths[5], root / photos.paths[5], 5, "--count", "4"
    )
    assert by_file["found"][0]["path"] == photos.paths[5]
    assert by_file["found"][0]["cosine"] > 0.98
    assert by_file["sample"] is None
    assert by_path["found"] == by_place["found"] == by_number["found"]
    assert len(by_path["found"]) == 4
    assert 5 not in [one["sample"] for one in by_path["found"]]
    matrix = F.normalize(photos.matrix().float(), dim=1)
    (expected,) = nearest(matrix[5:6], matrix, count=4, without=torch.tensor([5]))
    assert [one["sample"] for one in by_number["found"]] == [row for _, row in expected]
    first = by_number["found"][0]
    assert first["file"] == str(root / first["path"])
    assert first["label"] == first["path"].partition("/")[0]


def test_a_file_that_is_there_is_not_taken_for_an_image_of_that_path(photos, tmp_path, monkeypatch):
    """Another picture under the same relative path, and then none."""
    root, path = Path(photos.record.data["path"]), photos.paths[5]
    (tmp_path / path).parent.mkdir(parents=True)
    shutil.copy(root / photos.paths[30], tmp_path / path)
    monkeypatch.chdir(tmp_path)
    assert find_queries(photos, [path])[0].row == -1
    (tmp_path / path).unlink()
    assert find_queries(photos, [path])[0].row == 5
    monkeypatch.chdir(root)
    assert find_queries(photos, [path])[0].row == 5


def test_an_image_given_as_a_value_does_not_find_itself(photos, tmp_path, monkeypatch):
    """Its whole path is known; it is typed in other ways."""
    root = Path(photos.record.data["path"])
    run = Run.open(RUNS / "simclr-files")
    files = as_splits([str(root / path) for path in photos.paths[:20]])
    made = embed_data(run, files, tmp_path / "v", workers=0, copies=0)
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root.parent)
    path = Path(made.paths[5]).relative_to(root)
    words = [
        made.paths[5],
        f"{root.name}/{path}",
        f"./{root.name}/{path}",
        f"{tmp_path}/link/{path}",
    ]
    assert [query.row for query in find_queries(made, words)] == [5, 5, 5, 5]


def test_a_link_of_the_folder_does_not_find_itself(photos, tmp_path, capsys):
    """As in a folder that curate wrote."""
    root = Path(photos.record.data["path"])
    for path in photos.paths:
        (tmp_path / "links" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "links" / path).symlink_to(root / path)
    run = Run.open(RUNS / "simclr-files")
    linked = embed_data(run, tmp_path / "links", tmp_path / "v", workers=0, copies=0)
    (found,) = said(capsys, linked.folder, tmp_path / "links" / linked.paths[5], "--count", "3")
    assert found["sample"] == 5
    assert 5 not in [one["sample"] for one in found["found"]]


def test_an_image_whose_name_is_no_text(photos, tmp_path, capsys):
    """It does not find itself, and is shown on the page."""
    root, word = tmp_path / "photos", os.fsdecode(b"caf\xe9.jpg")
    root.mkdir()
    for number, path in enumerate(photos.paths[:3]):
        place = root / f"{number}.jpg" if number else root / word
        shutil.copy(photos.record.data["path"] + "/" + path, place)
    shutil.copy(root / "1.jpg", tmp_path / word)
    run = Run.open(RUNS / "simclr-files")
    made = embed_data(run, root, tmp_path / "v", workers=0, copies=0)
    page = tmp_path / "gallery.html"
    inside, outside = said(capsys, made.folder, root / word, tmp_path / word, "--out", page)
    assert made.paths[inside["sample"]] == "caf\\xe9.jpg"
    assert len(inside["found"]) == 2
    assert (outside["sample"], outside["query"][-11:]) == (None, "caf\\xe9.jpg")
    assert outside["found"][0]["path"] == "1.jpg"
    assert page.read_text().count("not there any more") == 0


def test_folders_whose_names_are_no_text(photos, tmp_path, monkeypatch):
    """Of the images, of the vectors and of what is written; names are printed byte for byte."""
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "utf-8", write_through=True))
    monkeypatch.chdir(tmp_path)
    root, v = os.fsdecode(b"ph\xe9"), os.fsdecode(b"ve\xe9")
    shutil.copytree(photos.record.data["path"], root)
    main(["embed", str(RUNS / "simclr-files"), root, "--out", v, "--workers", "0", "--copies", "0"])
    main(["search", v, "5", "--count", "3", "--out", "page.html"])
    assert b"counterpoint search ve\xe9 IMAGE" in printed.getvalue().replace(b"'", b"")
    page = (tmp_path / "page.html").read_text()
    assert f"{tmp_path}/ph\\xe9/" in page
    assert "not there any more" not in page
    main(["curate", v, "--out", os.fsdecode(b"c\xe9")])
    assert b"c\xe9/decisions.csv" in printed.getvalue()
    assert (tmp_path / os.fsdecode(b"c\xe9") / "decisions.parquet").is_file()


def test_a_bare_encoder_embeds_and_is_opened_again(photos, tmp_path, capsys):
    """Without a run: the folder says by which name and weights the encoder is opened."""
    root, out = Path(photos.record.data["path"]), tmp_path / "my vectors"
    main(["embed", str(root), "--encoder", "small", "--size", "24", "--out", str(out)])
    made = Vectors.open(out)
    assert made.record.encoder["address"]["encoder"] == "small"
    saved = tmp_path / "again.jpg"
    shutil.copy(root / made.paths[9], saved)
    assert f"next: counterpoint search '{out}' IMAGE" in capsys.readouterr().out
    (found,) = said(capsys, out, saved, "--count", "2")
    assert found["found"][0]["path"] == made.paths[9]
    assert found["found"][0]["cosine"] > 0.999
    with pytest.raises(SystemExit, match="embed needs a run and a folder of images, or --encoder"):
        main(["embed", str(root), "--out", str(tmp_path / "w")])


def test_an_image_without_a_label_beside_labelled_ones(photos, tmp_path, capsys):
    """Labelled folders to train on, and a flat one to test on."""
    root = Path(photos.record.data["path"])
    shutil.copytree(root, tmp_path / "photos/train")
    (tmp_path / "photos/val").mkdir()
    shutil.copy(root / photos.paths[3], tmp_path / "photos/val/0.jpg")
    run = Run.open(RUNS / "simclr-files")
    made = embed_data(run, tmp_path / "photos", tmp_path / "v", workers=0, copies=0)
    (found,) = said(capsys, made.folder, "5", "--count", "60", "--out", tmp_path / "page.html")
    labels = {one["path"]: one["label"] for one in found["found"]}
    assert labels["val/0.jpg"] is None
    assert set(labels.values()) == {None, "butterfly", "dolphin", "watch"}
    page = (tmp_path / "page.html").read_text()
    words = re.findall('<p class="more">([^<]*)</p>', page)  # split and label of each image
    assert {word.partition(" · ")[2] for word in words} == {"", "butterfly", "dolphin", "watch"}
    main(["search", str(made.folder), "5", "--count", "60"])
    table = capsys.readouterr().out.replace(str(tmp_path), "")  # which may hold pytest-1
    assert "-1" not in table
    assert "None" not in table


def test_a_table_and_what_comes_next(photos, capsys):
    main(["search", str(photos.folder), "5", "--count", "3"])
    told = capsys.readouterr().out
    assert "nearest to 5" in told
    assert told.count(".jpg") == 3
    assert "add --out gallery.html" in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["a" * 300], f"{'a' * 300} is no file, and no path or number of an image in"),
        (["nothing.jpg"], "nothing.jpg is no file, and no path or number of an image in"),
        (["99"], "has no vector of sample 99; needs a number below 42"),
        (["9" * 24], f"has no vector of sample {'9' * 24}; needs a number below 42"),
        (["5", "--index", "ivfpq"], "has 42 vectors; an index needs 256, give --index exact"),
        ([__file__], "test_search.py: "),
        (["3", "--out", "gallery.png"], "needs the name of a page, such as gallery.html"),
    ],
)
def test_mistakes_are_one_line(photos, words, why):
    with pytest.raises(SystemExit) as stop:
        main(["search", str(photos.folder), *words])
    assert why in str(stop.value)
    assert "\n" not in str(stop.value)


def test_a_file_is_not_embedded_by_another_encoder(photos, data):
    file = next((data / "caltech20" / "lotus").iterdir())
    with pytest.raises(SystemExit) as stop:
        main(["search", str(photos.folder), str(file), "--run", str(RUNS / "byol")])
    assert "are not those that made" in str(stop.value)


@pytest.mark.skipif(chromium() is None, reason="there is no chromium")
def test_the_gallery_in_a_browser(photos, data, tmp_path, capsys):
    page = tmp_path / "gallery.html"
    file = next((data / "caltech20" / "lotus").iterdir())
    gone = Path(photos.full_path(int(photos.samples[7])))
    gone.rename(gone.with_suffix(".moved"))
    try:
        main(["search", str(photos.folder), "5", str(file), "--count", "41", "--out", str(page)])
    finally:
        gone.with_suffix(".moved").rename(gone)
    assert str(page) in capsys.readouterr().out.replace("\n", "")
    with Browser() as browser:
        for width, dark in ((390, True), (1280, False)):
            browser.look(width, 900, dark=dark)
            browser.open(page)
            assert browser.complaints() == []
            assert browser.requests() == [page.as_uri()] + [
                url for url in browser.requests() if url.startswith("data:image/webp")
            ]
            assert browser.run("document.documentElement.scrollWidth") <= width
            pictures = "[...document.images].map((i) => i.naturalWidth)"
            assert len(found := browser.run(pictures)) == 2 + 82 - 2
            assert min(found) > 0
            assert browser.run("document.querySelectorAll('.gone').length") == 2
        names = browser.run("[...document.querySelectorAll('.name')].map((n) => n.textContent)")
        assert len(names) == 82
        assert gone.name in names
        code = (
            "(async () => { const b = document.querySelector('button[data-copy]'); b.click();"
            "await new Promise((r) => setTimeout(r, 300));"
            "return [b.textContent, b.dataset.copy] })()"
        )
        browser.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        waiting = {"awaitPromise": True, "returnByValue": True, "userGesture": True}
        copied = browser.ask("Runtime.evaluate", expression=code, **waiting)["result"]["value"]
        assert copied == ["Copied", photos.full_path(5)]
