"""The sheet shows real images, their crops and their views, and the views are shown truly."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import forked
from counterpoint.framework import Draw
from counterpoint.methods import SEVEN, views_named
from counterpoint.report.contact_sheet import CELL, COLOURS, MARGIN, contact_sheet
from counterpoint.report.visible import visible


@pytest.mark.parametrize("name", SEVEN)
def test_the_sheet_of_every_method(name, photos):
    sheet = contact_sheet(views_named(name, size=64), [p[0] for p in photos[:2]], title=name)
    pixels = np.asarray(sheet)
    views = {"cpc": 1}.get(name, 2)
    assert sheet.width == MARGIN + (CELL + MARGIN) * (1 + 2 * views)
    for colour in COLOURS[: 2 * views]:  # every view has its frame
        assert (pixels == colour).all(axis=2).sum() > 4 * CELL


@pytest.mark.parametrize("name", ["simclr", "amdim", "moco"])
def test_a_view_is_shown_as_it_is(name, cifar):
    """Without chance, a view turned back into a picture is the image."""
    built = views_named(name, size=32).build((3, 32, 32)).evaluation
    (view,) = built(cifar.train.images[:1], Draw(0, 0, torch.zeros(1, dtype=torch.int64)))
    shown = torch.from_numpy(np.array(visible(view[0], built.stages))).permute(2, 0, 1)
    assert torch.equal(shown, cifar.train.images[0])


def test_lightness_and_colour_are_the_image(cifar):
    """Undone together, the channels of CMC's two views are the image again."""
    built = views_named("cmc", size=32).build((3, 32, 32)).evaluation
    views = built(cifar.train.images[:1], Draw(0, 0, torch.zeros(1, dtype=torch.int64)))
    whole = torch.cat([view[0] for view in views])
    shown = torch.from_numpy(np.array(visible(whole, built.pipeline.stages)))
    apart = (shown.permute(2, 0, 1).int() - cifar.train.images[0].int()).abs()
    assert apart.max() <= 1
    lightness = np.array(visible(views[0][0], built.pipeline.stages)).astype(int)
    assert np.ptp(lightness, axis=2).max() <= 2  # grey


def test_patches_lie_beside_each_other(cifar):
    built = views_named("cpc", size=32).build((3, 32, 32)).evaluation
    (view,) = built(cifar.train.images[:1], Draw(0, 0, torch.zeros(1, dtype=torch.int64)))
    shown = np.array(visible(view[0], built.stages))
    assert shown.shape == (7 * 8 + 6 * 2, 7 * 8 + 6 * 2, 3)
    image = cifar.train.images[0].permute(1, 2, 0).numpy()
    assert np.array_equal(shown[:8, :8], image[:8, :8])
    assert np.array_equal(shown[10:18, 20:28], image[4:12, 8:16])
    assert (shown[8:10] == 255).all()


def test_the_command(data, tmp_path):
    command = Path(sys.executable).with_name("counterpoint")
    arguments = ["views", data / "caltech20", "--method", "byol", "--images", "2", "--size", "64"]
    done = forked.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 images, 2 epochs: views.png" in done.stdout
    with Image.open(tmp_path / "views.png") as sheet:
        assert sheet.format == "PNG"
