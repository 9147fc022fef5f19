"""The page of a curation in a real browser."""

import pytest
import torch
from PIL import Image

from counterpoint.curation.curated_folder import write_curated
from counterpoint.curation.curator import curate
from counterpoint.curation.decisions import decisions
from counterpoint.encoder_choice import open_encoder
from counterpoint.vectors import embed_data
from report.browser import Browser, chromium

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="there is no chromium; on Debian: apt-get install chromium"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A set with two equal files, whose names want to be HTML."""
    root = tmp_path_factory.mktemp("named")
    pixels = torch.randint(0, 256, (30, 32, 32, 3), generator=torch.Generator().manual_seed(0))
    for number, one in enumerate(pixels.byte()):
        Image.fromarray(one.numpy()).save(root / f"{number:02}.png")
    name = "a very long <b>name & of a file that does not fit on a phone.png"
    (root / name).write_bytes((root / "00.png").read_bytes())
    made = embed_data(open_encoder(encoder="small", size=32), root, root.parent / "v", workers=0)
    found = curate(made)
    write_curated(found, decisions(found), root.parent / "c")
    return root.parent / "c" / "gallery.html"


def test_it_fits_shows_pictures_and_asks_nobody(page):
    with Browser() as browser:
        for width in (390, 1280):
            browser.look(width, 900, dark=width == 390)
            browser.open(page)
            assert browser.run("document.documentElement.scrollWidth") <= width
            assert browser.run("document.querySelectorAll('#duplicates figure').length") == 2
            loaded = "[...document.images].every((i) => i.complete && i.naturalWidth > 0)"
            assert browser.run(loaded)
            assert browser.run("document.querySelectorAll('.kept').length") >= 1
            assert browser.run("document.querySelectorAll('#duplicates b b').length") == 0
        assert browser.complaints() == []
        assert all(one.startswith(("file:", "data:")) for one in browser.requests())
