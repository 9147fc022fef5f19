"""HEIC where its plugin is installed; TIFF, BMP and GIF always; what is left out is named.

`gradient.heic` is 96 x 64: red grows to the right, green to the bottom, blue is 128. `turned.heic`
is the same, taken with the camera held upright: 64 x 96.
"""

import json
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import torch
from PIL import Image

from counterpoint.cli import main
from counterpoint.data import UnreadableImageError, open_data
from counterpoint.data.formats.sequence_size import sequence_size
from counterpoint.data.pictures import open_picture
from counterpoint.vectors import Vectors

HERE = Path(__file__).parent


@pytest.fixture
def gradient():
    return (HERE / "gradient.heic").read_bytes()


def test_the_pixels_are_those_of_the_photo(gradient):
    picture = open_picture(gradient, "gradient.heic")
    assert (picture.form, picture.height, picture.width) == ("HEIF", 64, 96)
    pixels = picture.decode(1.0).float()
    assert pixels.shape == (3, 64, 96)
    right = torch.linspace(0, 255, 96).expand(64, 96)
    below = torch.linspace(0, 255, 64)[:, None].expand(64, 96)
    for seen, true in zip(pixels, (right, below, torch.full((64, 96), 128.0)), strict=True):
        assert (seen - true).abs().mean() < 6


def test_a_turned_photo_is_upright():
    picture = open_picture((HERE / "turned.heic").read_bytes(), "turned.heic")
    assert (picture.height, picture.width) == (96, 64)
    red, _, _ = picture.decode(1.0).float()
    assert red[-8:].mean() > red[:8].mean() + 150  # what grew to the right grows to the bottom


def grown(data, *, width, height):
    """Name another size, as a bomb would."""
    at = data.index(b"ispe") + 8
    return data[:at] + struct.pack(">II", width, height) + data[at + 8 :]


def refused(data):
    with pytest.raises(UnreadableImageError) as caught:
        open_picture(data, "bomb.heic").decode(1.0)
    return caught.value.kind


def test_what_would_cost_too_much_is_refused(gradient):
    assert refused(grown(gradient, width=30_000, height=30_000)) == "too large"


def test_a_picture_larger_than_its_file_says_is_refused_before_it_is_decoded(gradient):
    at = gradient.index(b"hvcC") + 4
    length = struct.unpack(">I", gradient[at - 8 : at - 4])[0] - 8
    assert sequence_size(gradient[at : at + length]) == (96, 64)
    assert refused(grown(gradient, width=8, height=8)) == "too large"


@pytest.mark.parametrize("cut", [13, 60, 200, 400, 560])
def test_a_file_cut_short_is_named_and_does_no_harm(gradient, cut):
    assert refused(gradient[:cut]) in {"not an image", "truncated"}


@pytest.fixture
def album(data, tmp_path):
    """Photos in seven formats."""
    photos = tmp_path / "album"
    photos.mkdir()
    files = sorted((data / "caltech20" / "lotus").glob("*.jpg"))[:16]
    for number, file in enumerate(files):
        shutil.copy(file, photos / f"{number}.jpg")
    photo = Image.open(files[0]).convert("RGB")
    for suffix in ("tif", "bmp", "gif", "webp", "png"):
        photo.save(photos / f"same.{suffix}")
    shutil.copy(HERE / "gradient.heic", photos / "1.HEIC")
    shutil.copy(HERE / "turned.heic", photos / "2.heif")
    (photos / "raw.arw").write_bytes(b"II*\0")
    return photos


def test_every_format_goes_through_doctor_pretrain_and_embed(album, tmp_path, capsys):
    found, run, vectors = (str(tmp_path / name) for name in ("found.json", "run", "vectors"))
    options = ["--weights", "scratch", "--seconds", "0", "--json", found]
    main(["doctor", str(album), *options])
    said = capsys.readouterr().out
    assert "1 file not opened: .arw 1" in said
    record = json.loads(Path(found).read_text())
    assert record["broken"] == []
    formats = {"JPEG": 16, "HEIF": 2, "TIFF": 1, "BMP": 1, "GIF": 1, "WEBP": 1, "PNG": 1}
    assert record["formats"] == formats
    asked = ["--method", "simclr-small", "--size", "32", "--batch-size", "16", "--steps", "1"]
    main(["pretrain", str(album), *asked, "--workers", "0", "--out", run])
    assert "1 file not opened: .arw 1" in capsys.readouterr().err  # in the start table
    main(["embed", run, str(album), "--out", vectors, "--copies", "0", "--workers", "0"])
    made = Vectors.open(vectors)
    assert made.count == 23
    assert not made.unreadable


def test_without_the_plugin_such_photos_are_counted_and_it_is_said_what_to_install(album, tmp_path):
    code = """
import sys
sys.modules["pi_heif"] = None  # as if it were not installed
from counterpoint.data import open_data
from counterpoint.data.pictures import open_picture
print(repr(open_data(sys.argv[1])))
open_picture(open(sys.argv[1] + "/1.HEIC", "rb").read(), "1.HEIC")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(album)], capture_output=True, text=True, check=False
    )
    assert "21 image files (3 files not opened: .arw 1, .heic 1, .heif 1" in done.stdout
    assert "pip install 'counterpoint[heic]' reads the 2 HEIC" in done.stdout
    assert "1.HEIC: HEIC needs a plugin: pip install 'counterpoint[heic]'" in done.stderr
    assert "pi_heif" not in repr(open_data(album))


def test_photos_in_a_tar_are_there_once_the_plugin_is_installed(tmp_path, monkeypatch):
    """What is kept of a tar says which members were images."""
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    Image.new("RGB", (20, 30)).save(tmp_path / "0.png")
    with tarfile.open(tmp_path / "train-0.tar", "w") as tar:
        tar.add(tmp_path / "0.png", "0.png")
        tar.add(HERE / "gradient.heic", "1.heic")
    with tarfile.open(tmp_path / "others-0.tar", "w") as tar:
        tar.add(tmp_path / "0.png", "0.png")
    code = """
import sys
sys.modules["pi_heif"] = None  # as if it were not installed
from counterpoint.data import open_data
for tar in sys.argv[1:]:
    train = open_data(tar).train
    print(len(train), train.fingerprint())
"""
    tars = [str(tmp_path / "train-0.tar"), str(tmp_path / "others-0.tar")]
    words = [sys.executable, "-c", code, *tars]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    before = [line.split() for line in done.stdout.splitlines()]
    after = [(len(train), train.fingerprint()) for train in (open_data(tar).train for tar in tars)]
    assert [int(count) for count, _ in before] == [1, 1]
    assert [count for count, _ in after] == [2, 1]
    assert before[0][1] != after[0][1]
    assert before[1][1] == after[1][1]  # a run on it resumes after the plugin was installed
