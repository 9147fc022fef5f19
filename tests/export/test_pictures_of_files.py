"""Exported lines read the pictures of files as the run does: turned, transparent, of 16 bits."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from counterpoint.data.dataset_item import stored_image
from counterpoint.export.pixel_recipe import UPRIGHT
from counterpoint.export.proof_images import odd_pictures

SPACE = {"np": np, "Image": Image, "ImageOps": ImageOps}
exec(UPRIGHT.format(mode="RGB"), SPACE)  # the lines of a card


def some(mode="RGB"):
    numbers = np.random.default_rng(0)
    return Image.fromarray(numbers.integers(0, 256, (20, 30, 3), dtype=np.uint8)).convert(mode)


def turned(orientation):
    picture = some()
    picture.getexif()[0x0112] = orientation
    return picture


def palette():
    picture = some("P")
    picture.info["transparency"] = 3
    return picture


def one_clear_colour():
    picture = some()
    picture.info["transparency"] = picture.getpixel((0, 0))
    return picture


MODES = [some(mode) for mode in ("RGB", "L", "1", "P", "CMYK", "YCbCr", "LA")]
PICTURES = [
    *MODES,
    *(turned(n) for n in range(1, 9)),
    palette(),
    one_clear_colour(),
    *odd_pictures(some()),
]


@pytest.mark.parametrize("picture", PICTURES)
def test_the_lines_read_what_the_run_reads(picture):
    ours = stored_image(picture, "one").picture().decode(1.0)
    lines = np.asarray(SPACE["upright"](picture))
    assert (lines.transpose(2, 0, 1) == ours.numpy()).all()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["tif", "png", "jpg"])
def test_a_file_is_turned_once(orientation, suffix, tmp_path):
    """Pillow turns a TIFF itself when it is loaded."""
    file = tmp_path / f"turned.{suffix}"
    some().save(file, exif=turned(orientation).getexif())
    from_path = stored_image(file, "one").picture().decode(1.0).numpy()
    with Image.open(file) as opened:
        from_pillow = stored_image(opened, "one").picture().decode(1.0).numpy()
    with Image.open(file) as opened:
        lines = np.asarray(SPACE["upright"](opened)).transpose(2, 0, 1)
    assert from_path.shape == from_pillow.shape == lines.shape
    assert (from_pillow == lines).all()
    assert (from_path == lines).all()
