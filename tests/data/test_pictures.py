"""Files of every mode and format become the right red, green and blue; bad ones say why."""

import io
import math
import random
from collections import Counter

import numpy as np
import pytest
import torch
from PIL import Image

from counterpoint.data.pictures import BUDGET, UnreadableImageError, open_picture

# Left half red, right half blue, a little higher than wide so that turning shows.
RED, BLUE = (200, 30, 40), (20, 60, 220)


def half_and_half(width=40, height=60):
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:, : width // 2], pixels[:, width // 2 :] = RED, BLUE
    return Image.fromarray(pixels)


def encoded(image, form="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def decoded(data, scale=1.0):
    return open_picture(data, "test").decode(scale)


def means(pixels):
    """The mean colour of the left and of the right quarter."""
    quarter = pixels.shape[2] // 4
    return (
        pixels[:, :, :quarter].double().mean(dim=(1, 2)),
        pixels[:, :, -quarter:].double().mean(dim=(1, 2)),
    )


def assert_colours(pixels, left, right, within):
    for mean, colour in zip(means(pixels), (left, right), strict=True):
        assert (mean - torch.tensor(colour).double()).abs().max() <= within


@pytest.mark.parametrize(
    ("form", "options", "within"),
    [
        ("PNG", {}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("WEBP", {}, 6),
        ("JPEG", {}, 6),
        ("JPEG", {"progressive": True}, 6),
        ("GIF", {}, 3),
        ("BMP", {}, 0),
        ("TIFF", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("TIFF", {"compression": "jpeg"}, 8),
    ],
)
def test_formats(form, options, within):
    picture = open_picture(encoded(half_and_half(), form, **options), "test")
    assert (picture.height, picture.width) == (60, 40)
    pixels = picture.decode(1.0)
    assert pixels.shape == (3, 60, 40)
    assert pixels.dtype == torch.uint8
    assert_colours(pixels, RED, BLUE, within)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_greyscale(form):
    grey = half_and_half().convert("L")
    pixels = decoded(encoded(grey, form))
    assert torch.equal(pixels[0], pixels[1])
    assert torch.equal(pixels[0], pixels[2])
    assert abs(float(pixels[0, 30, 5]) - np.asarray(grey)[30, 5]) <= 2


def test_cmyk():
    assert_colours(decoded(encoded(half_and_half().convert("CMYK"), "JPEG")), RED, BLUE, 8)


def test_palette_with_and_without_transparency():
    palette = half_and_half().quantize(8)
    assert_colours(decoded(encoded(palette)), RED, BLUE, 3)
    index = int(np.asarray(palette)[30, 5])  # the red of the left half becomes transparent
    assert_colours(decoded(encoded(palette, transparency=index)), (255,) * 3, BLUE, 3)


def test_transparency_shows_white_paper():
    image = half_and_half().convert("RGBA")
    alpha = np.full((60, 40), 255, np.uint8)
    alpha[:, :20] = 0
    image.putalpha(Image.fromarray(alpha))
    assert_colours(decoded(encoded(image)), (255,) * 3, BLUE, 0)
    alpha[:, :20] = 128
    image.putalpha(Image.fromarray(alpha))
    half = tuple(round(255 + (c - 255) * 128 / 255) for c in RED)
    assert_colours(decoded(encoded(image)), half, BLUE, 1)
    assert_colours(decoded(encoded(image.convert("LA"))), (166,) * 3, (66,) * 3, 4)


def test_sixteen_bits_are_scaled_and_not_clipped():
    levels = np.empty((60, 40), np.uint16)
    levels[:, :20], levels[:, 20:] = 40_000, 1_000
    pixels = decoded(encoded(Image.fromarray(levels)))
    assert_colours(pixels, (40_000 >> 8,) * 3, (1_000 >> 8,) * 3, 0)


def test_one_bit():
    image = Image.fromarray(np.asarray(half_and_half().convert("L")) > 70)
    pixels = decoded(encoded(image))
    assert set(pixels.unique().tolist()) <= {0, 255}


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation(form, orientation):
    """A camera held any way: the picture comes out as it was seen."""
    seen = half_and_half()
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = seen.transpose(undo[orientation]) if orientation > 1 else seen
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = open_picture(encoded(stored, form, exif=exif), "test")
    assert (picture.height, picture.width) == (60, 40)
    pixels = picture.decode(1.0)
    assert pixels.shape == (3, 60, 40)
    assert_colours(pixels, RED, BLUE, 8)


@pytest.mark.parametrize("orientation", [1, 6])
def test_reduced_decoding(orientation):
    """A JPEG gives at least what is asked for, and no more than twice that."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    large = half_and_half(1600, 2400)
    stored = large.transpose(Image.Transpose.ROTATE_90) if orientation == 6 else large
    data = encoded(stored, "JPEG", exif=exif)
    for scale in (1.0, 0.7, 0.5, 0.3, 0.25, 0.12, 0.01):
        pixels = decoded(data, scale)
        least = max(scale, 1 / 8)
        assert least * 2400 - 1 <= pixels.shape[1] < max(2 * least * 2400, 2401)
        assert pixels.shape[1] * 2 == pixels.shape[2] * 3
        assert_colours(pixels, RED, BLUE, 8)
    assert decoded(encoded(large), 0.1).shape == (3, 2400, 1600)  # PNG: always whole


NOT_READABLE = "not a readable JPEG, PNG, WEBP, GIF, BMP, TIFF image"


@pytest.mark.parametrize(
    ("data", "said", "kind"),
    [
        (b"", "the file is empty", "empty"),
        (b"<html><body>404</body></html>", NOT_READABLE, "not an image"),
        (encoded(half_and_half(), "ICO"), NOT_READABLE, "not an image"),
        (encoded(half_and_half(), "JPEG")[:20], "not a readable JPEG image", "not an image"),
    ],
    ids=["empty", "html", "another format", "header cut"],
)
def test_no_image_is_refused_by_its_header(data, said, kind):
    with pytest.raises(UnreadableImageError, match=f"photo.jpg: {said}") as refused:
        open_picture(data, "photo.jpg")
    assert refused.value.kind == kind


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_cut_file_is_refused_when_decoded(form):
    noise = np.random.default_rng(0).integers(256, size=(80, 80, 3), dtype=np.uint8)
    data = encoded(Image.fromarray(noise), form)
    picture = open_picture(data[: len(data) // 2], "cut.jpg")
    with pytest.raises(UnreadableImageError, match=r"cut.jpg: "):
        picture.decode(1.0)


def test_what_would_take_too_much_memory_is_refused_before_it_is_decoded():
    side = math.isqrt(BUDGET // 4) + 10
    bomb = encoded(Image.new("RGB", (side, side)))
    assert len(bomb) < 300_000
    with pytest.raises(UnreadableImageError, match=r"too large: decoding would hold \d+ MB"):
        decoded(bomb, 0.01)
    # A JPEG of the same size is fine where a small part of its pixels is enough.
    grey = encoded(Image.new("L", (side, side), 77), "JPEG", quality=20)
    assert decoded(grey, 0.1).shape == (3, -(-side // 8), -(-side // 8))
    with pytest.raises(UnreadableImageError, match="too large"):
        decoded(encoded(Image.new("RGB", (side, side), RED), "JPEG"), 1.0)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_whatever_is_changed_in_a_file_it_is_read_or_refused(form):
    """400 files of each format, some bytes changed, cut anywhere: nothing else is raised."""
    rng = random.Random(form)
    exif = Image.Exif()
    exif[0x0112] = 6
    options = {"exif": exif} if form in ("JPEG", "PNG", "WEBP", "TIFF") else {}
    whole = encoded(half_and_half(24, 16), form, **options)
    outcomes = Counter()
    for _ in range(400):
        data = bytearray(whole[: rng.choice([len(whole), rng.randrange(1, len(whole))])])
        for _ in range(rng.choice([0, 1, 3, 9])):
            data[rng.randrange(min(len(data), rng.choice([40, 400, len(data)])))] = rng.randrange(
                256
            )
        try:
            pixels = decoded(bytes(data))
            outcomes["read"] += pixels.dtype == torch.uint8
        except UnreadableImageError as error:
            outcomes[error.kind] += 1
    assert outcomes["read"] > 20
    assert sum(outcomes.values()) == 400
    assert len(outcomes) > 1
