"""What is said when data is opened: addresses, files that are not opened, columns not taken."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import torch

from counterpoint.data import ArraySource, Batches, image_files, open_data
from counterpoint.data.location import local
from data.bombs import photo


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("make", [str, Path])
@pytest.mark.parametrize("place", ["nope://bucket/x", "nopes://b/y/z"])
def test_an_unknown_scheme_is_refused_with_all_its_slashes(place, make):
    with pytest.raises(ValueError, match=f"^data: got {place}; nopes?:// is not known to fsspec"):
        open_data(make(place))
    with pytest.raises(ValueError, match=f"^out: got {place}; needs a folder of this machine"):
        local(make(place), what="out")


def test_a_path_with_a_colon_is_a_path(tmp_path):
    place = tmp_path / "run: 3" / "a:b"
    assert local(place, what="out") == place
    assert local("C:/x", what="out") == Path("C:/x")
    with pytest.raises(ValueError, match="write the path alone: /tmp/x"):
        local("file:///tmp/x", what="out")


@pytest.mark.parametrize("given", [torch.zeros(3), np.zeros(3), [1, 2], 7, None])
def test_what_is_no_path_is_refused_with_what_to_write(given):
    with pytest.raises(
        TypeError, match=r"data: got .*needs the path .*counterpoint.as_source takes tensors"
    ):
        local(given, what="data")


def test_files_that_are_not_opened_are_counted(tmp_path):
    for name in ("a.jpg", "b.PNG", "c.tif", "d.bmp", "e.gif", "f.webp"):
        (tmp_path / name).write_bytes(photo("PNG"))
    assert image_files(tmp_path).describe()["unopened"] == {}
    for name in ("1.ARW", "2.arw", "notes.txt", "README", ".hidden.arw"):
        (tmp_path / name).write_bytes(b"other")
    for _ in range(2):  # made, and read back
        files = image_files(tmp_path)
        assert files.describe()["unopened"] == {".arw": 2, ".txt": 1, "no suffix": 1}
        assert "4 files not opened: .arw 2, .txt 1, no suffix 1" in repr(files)
        assert "6 image files (4 files not opened: .arw 2" in repr(open_data(tmp_path))


def test_every_format_gives_its_first_frame(tmp_path):
    forms = {"a.jpg": "JPEG", "b.png": "PNG", "c.tif": "TIFF", "d.bmp": "BMP", "e.gif": "GIF"}
    for name, form in forms.items():
        (tmp_path / name).write_bytes(photo(form))
    files = image_files(tmp_path)
    whole = [picture.decode(1.0).double() for picture in files.pictures(torch.arange(5))]
    for pixels in whole:
        assert float((pixels - whole[1]).abs().mean()) < 2


def columns(file, **more: Sequence):
    images = [photo("PNG", side=8 + n) for n in range(4)]
    parquet.write_table(pa.table({"image": images, **more}), file)


def test_columns_that_are_not_taken_are_said(tmp_path, capsys):
    columns(tmp_path / "train-0.parquet", target=[0, 1, 0, 1], thumb=[b"x"] * 4)
    assert open_data(tmp_path).train.has_labels is False
    said = capsys.readouterr().err
    assert "images are column image, not thumb; no labels: column target is not taken" in said
    assert "call it label" in said
    columns(tmp_path / "train-0.parquet", label=[0, 1, 0, 1], width=[8, 9, 10, 11])
    assert open_data(tmp_path).train.has_labels
    assert capsys.readouterr().err == ""


def test_a_batch_that_does_not_fit_is_answered_with_one_that_does():
    source = ArraySource("some", torch.zeros(298, 3, 8, 8, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"a batch of 512 from 298 images; 64 fits"):
        Batches(source, batch=512, seed=0)
    with pytest.raises(ValueError, match=r"a batch of 512 from 298 images; 64 fits"):
        Batches(source, batch=128, together=4, seed=0)
    Batches(source, batch=64, seed=0)
    with pytest.raises(ValueError, match="8 images at once for 9 processes"):
        Batches(source, batch=8, seed=0, ranks=9)
    few = ArraySource("few", torch.zeros(3, 3, 8, 8, dtype=torch.uint8))
    with pytest.raises(ValueError, match="there are too few to train on"):
        Batches(few, batch=4, seed=0)
