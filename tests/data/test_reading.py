"""Files are read a few at a time and decoded one at a time, whatever their size."""

import torch

from counterpoint.data import image_files
from counterpoint.data import reading as reading_module
from counterpoint.data.pictures import FilePicture
from counterpoint.data.reading import read_cuts
from counterpoint.framework import Draw
from counterpoint.parts.views import pipelines
from data.bombs import photo


def test_portions_of_any_size_give_the_same_cuts(tmp_path, monkeypatch):
    """What waits is bounded, one large file waits alone, and broken ones change no other."""
    for number, side in enumerate([64, 20, 300, 24, 28, 500, 32]):
        (tmp_path / f"{number}.png").write_bytes(photo("PNG", side=side))
    (tmp_path / "3.png").write_bytes(b"text")
    files, index = image_files(tmp_path), torch.arange(7)
    views = pipelines.simclr_views(16).build((3, 16, 16))
    draw = Draw(0, 0, index)
    whole, bad = read_cuts(files, views.cut, draw)
    assert [(one.sample, one.kind) for one in bad] == [(3, "not an image")]
    monkeypatch.setattr(reading_module, "WAITING", 400)
    sizes = []

    def cut(pictures, draw):
        sizes.append([len(picture.data) for picture in pictures])
        return views.cut(pictures, draw)

    again, same = read_cuts(files, cut, draw)
    assert same == bad
    for one, other in zip(again, whole, strict=True):
        assert torch.equal(one, other)
    assert len(sizes) > 2
    for some in sizes:
        assert len(some) == 1 or sum(some) <= 400


def test_one_decoded_picture_at_a_time(tmp_path, monkeypatch):
    for number in range(5):
        (tmp_path / f"{number}.png").write_bytes(photo("PNG"))
    views = pipelines.simclr_views(16).build((3, 16, 16))
    pictures = image_files(tmp_path).pictures(torch.arange(5))
    views.cut(pictures, Draw(0, 0, torch.arange(5)))
    assert [picture.opened for picture in pictures] == [[]] * 5  # nobody holds their pixels
    assert all(isinstance(picture, FilePicture) for picture in pictures)
    assert pictures[0].decode(1.0).shape == (3, 64, 64)  # it can be decoded again
