"""Images in a report: neighbours by loops, planes and groups by scikit-learn, files of any kind."""

import json
import re
import sys
import types

import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from counterpoint.data import ArraySource, Splits, open_data
from counterpoint.evaluation.clusters import k_means
from counterpoint.report import gallery, write_report
from counterpoint.report.projection import pca, project
from counterpoint.report.samples import choose, look
from counterpoint.report.sections.map import PICTURE, apart
from counterpoint.run import Run
from reference import pictures as slow
from report.example import write_health, write_run, write_weights
from report.tree import tree


def vectors(count, width, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def test_neighbours_are_those_of_loops(monkeypatch):
    monkeypatch.setattr(gallery, "CHUNK", 7)  # several parts, the last one short
    some = vectors(40, 5)
    index, cosines = gallery.nearest_images(some, count=6)
    wanted = slow.neighbours(some.double().tolist(), 6)
    assert index.tolist() == [[n for _, n in row] for row in wanted]
    nearest = torch.tensor([[c for c, _ in row] for row in wanted])
    assert torch.allclose(cosines, nearest, atol=1e-6)


def test_agreement_and_chance_are_those_of_loops():
    labels = torch.tensor([0, 1, 1, 2, 0, 1, 2, 1])
    index, _ = gallery.nearest_images(vectors(8, 3), count=3)
    assert gallery.agreement(labels, index) == slow.agreement(labels.tolist(), index.tolist())
    assert gallery.guessing_share(labels) == slow.chance(labels.tolist())


def test_queries_are_of_every_class():
    labels = torch.tensor([4] * 50 + [1] * 30 + [2] * 20)
    asked = gallery.queries(labels, 100, count=5)
    assert labels[asked].tolist() == [4, 1, 2, 4, 1]
    assert len(gallery.queries(None, 4, count=12)) == 4


def test_the_plane_is_that_of_scikit_learn():
    some = vectors(60, 9) * torch.linspace(3, 0.1, 9)
    points, held = pca(some)
    theirs = PCA(2).fit(some.double().numpy())
    wanted = torch.as_tensor(theirs.transform(some.double().numpy())).float()
    for axis in (0, 1):  # a direction has two signs
        same = torch.allclose(points[:, axis], wanted[:, axis], atol=1e-4)
        assert same or torch.allclose(points[:, axis], -wanted[:, axis], atol=1e-4)
    assert held == pytest.approx(float(theirs.explained_variance_ratio_.sum()))


def test_umap_is_used_where_it_is(monkeypatch):
    some = vectors(40, 4)
    assert project(some).words.startswith("PCA")
    made = {}

    class Fake:
        def __init__(self, **settings):
            made.update(settings)

        def fit_transform(self, given):
            return given[:, :2]

    fake = types.ModuleType("umap")
    fake.UMAP, fake.__spec__ = Fake, types.SimpleNamespace(name="umap")
    monkeypatch.setitem(sys.modules, "umap", fake)
    found = project(some)
    assert found.words.startswith("UMAP")
    assert torch.equal(found.points, some[:, :2])
    assert made["random_state"] == 0


def test_groups_are_as_tight_as_those_of_scikit_learn():
    centres = F.normalize(vectors(5, 8, seed=1), dim=1)
    true = torch.arange(200) % 5
    some = centres[true] + 0.15 * vectors(200, 8)
    ours = k_means(some, clusters=5)
    unit = F.normalize(some, dim=1).double()
    best = KMeans(5, n_init=10, random_state=0).fit(unit.numpy()).inertia_
    spread = sum(
        float((unit[ours == n] - unit[ours == n].mean(dim=0)).square().sum()) for n in range(5)
    )
    assert spread <= 1.02 * best
    sizes = ours.bincount()
    assert torch.equal(sizes, sizes.sort(descending=True).values)
    assert torch.equal(ours, k_means(some, clusters=5))


def test_vectors_that_are_all_alike_are_no_crash():
    """A collapsed encoder gives them, and its report is the one that is needed most."""
    seen = look(torch.ones(30, 6), None)
    assert bool(seen.projection.points.isfinite().all())
    assert seen.near.shape == (30, 6)


def test_unseen_images_are_shown_where_there_are_enough():
    def source(name, count):
        return ArraySource(name, torch.zeros(count, 3, 8, 8, dtype=torch.uint8))

    splits = Splits(source("train", 300), source("validation", 20), source("test", 120))
    sample = choose(splits, count=50)
    assert sample.words == "50 of 120 test images, which training did not see"
    assert len(sample.pictures) == 50
    few = Splits(source("train", 300), source("validation", 20), source("test", 20))
    assert choose(few, count=400).words == "all 300 training images"
    with pytest.raises(ValueError, match="needs 8"):
        choose(Splits(source("a", 3), source("b", 0), source("c", 0)), count=10)


def test_pictures_do_not_cover_each_other():
    places = (600 * torch.rand(300, 2, generator=torch.Generator().manual_seed(0))).tolist()
    shown = apart(places, PICTURE)
    assert len(shown) > 50
    for n, one in enumerate(shown):
        for other in shown[:n]:
            (x, y), (a, b) = places[one], places[other]
            assert abs(x - a) >= PICTURE or abs(y - b) >= PICTURE


def test_the_page_of_real_images(cifar, tmp_path):
    folder = write_weights(tmp_path / "run")
    page = write_report([folder], tmp_path / "report.html", data=cifar, images=500)
    root = tree(page)
    thumbs = root.by("class", "thumb")
    assert len(thumbs) == 12 * 7
    looked_up = [one.words for one in thumbs if "query" in one.attributes["class"]]
    assert set(looked_up[:10]) == set(cifar.test.classes)
    for one in thumbs:
        alt = one.all("img")[0].attributes["alt"]
        if "agree" in one.attributes["class"]:
            assert "same label" in alt
        assert one.all("figcaption")[0].words in alt
    assert "simclr-small: views" not in root.words  # it is in the picture, and its alt says what
    assert "random crop 0.25-1 to 20" in root.by("class", "sheet")[0].attributes["alt"]
    data = json.loads(root.by("id", "map-data")[0].words)
    assert len(data["labels"]) == len(data["runs"][0]["at"]) == 500
    marks = [path.attributes["d"].count("M") for path in root.by("class", "dots")]
    assert sum(marks[:10]) == 500  # of the map; the others are the keys of the legend
    sample = choose(cifar, count=500)
    assert data["labels"] == sample.labels.tolist()


@pytest.mark.parametrize("runs", [1, 12])
def test_a_full_page_is_below_five_megabytes(runs, data, tmp_path, monkeypatch):
    """Photos are the heaviest; random vectors spread them over the whole map."""
    monkeypatch.setattr(Run, "embed", lambda _, images: vectors(len(images), 16))
    photos = open_data(data / "caltech20")
    whole = Splits(photos.train, photos.validation, photos.train)
    folder = write_weights(tmp_path / "run")
    page = write_report([folder] * runs, tmp_path / "report.html", data=whole)
    shown = min(len(photos.train), 8_000 // runs)
    share = 2_000 / shown if runs == 1 else 1.0  # there are fewer photos than a map takes
    assert page.stat().st_size * share < 5e6


def test_several_runs_share_their_images(cifar, tmp_path):
    one = write_weights(tmp_path / "one")
    other = write_weights(tmp_path / "other", method="yadim-small")
    page = write_report([one, other], tmp_path / "report.html", data=cifar, images=300)
    root = tree(page)
    assert len(re.findall(r"background-image:url\(data:", page.read_text())) == 1
    assert len(root.by("class", "map")) == 2
    assert len(root.by("class", "sheet")) == 2  # their views differ
    assert len(root.by("class", "query")) == 6
    assert len(root.by("class", "answer")) == 12


def test_photos_without_labels(data, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for n, file in enumerate(sorted((data / "caltech20").glob("*/*.jpg"))[::40]):
        (photos / f"<b>{n}.jpg").write_bytes(file.read_bytes())
    Image.new("L", (50, 20)).save(photos / "grey.png")
    folder = write_weights(tmp_path / "run")
    root = tree(write_report([folder], tmp_path / "report.html", data=open_data(photos)))
    assert "all 39 training images" in root.words
    assert "label" not in root.by("id", "neighbours")[0].words
    assert "group 1" in root.by("class", "legend")[0].words
    assert not root.all("b")[0].words.startswith("<b>")


def test_a_run_without_weights_cannot_look_at_images(cifar, tmp_path):
    folder = write_run(tmp_path / "run")
    write_health(folder)
    with pytest.raises(FileNotFoundError, match="leave out --data"):
        write_report([folder], tmp_path / "report.html", data=cifar, images=50)


def test_a_bad_file_is_not_among_the_pictures(data, tmp_path):
    from counterpoint.data import open_data
    from counterpoint.report.samples import choose

    for number, file in enumerate(sorted((data / "caltech20").glob("*/*.jpg"))[::75]):
        (tmp_path / f"{number}.jpg").write_bytes(file.read_bytes() if number % 4 else b"no image")
    splits = open_data(tmp_path)
    chosen = choose(splits, count=12)
    assert len(chosen.pictures) == 12
    assert {int(path.stem) % 4 for path in chosen.source.paths} == {1, 2, 3}
