"""Images in .npy and .npz files."""

from pathlib import Path

import numpy as np
import pytest
import torch

from counterpoint.data import ArraySource, as_source, open_data
from counterpoint.data.layouts import arrays as arrays_module
from counterpoint.framework import Draw
from counterpoint.parts.views import pipelines


@pytest.fixture
def photos():
    return np.random.default_rng(0).integers(256, size=(30, 20, 24, 3), dtype=np.uint8)


def opened(path, array):
    np.save(path, array)
    return open_data(path)


@pytest.mark.parametrize("large", [False, True])
def test_channels_last_and_channels_first(tmp_path, photos, large, monkeypatch):
    if large:
        monkeypatch.setattr(arrays_module, "LARGE", 1)
    first = np.ascontiguousarray(photos.transpose(0, 3, 1, 2))
    one = opened(tmp_path / "photos.npy", photos).train
    other = opened(tmp_path / "first.npy", first).train
    assert repr(one) == "photos train: 30 images, 3 x 20 x 24, no labels"
    assert torch.equal(one.images, torch.from_numpy(first))
    assert one.fingerprint() == other.fingerprint()
    views, draw = pipelines.simclr_views(16).build((3, 20, 24)), Draw(0, 0, torch.arange(30))
    for a, b in zip(views(one.images, draw), views(other.images, draw), strict=True):
        assert torch.equal(a, b)


def test_a_large_file_is_mapped_and_never_written_to(tmp_path, photos, monkeypatch):
    monkeypatch.setattr(arrays_module, "LARGE", 1)
    np.save(tmp_path / "photos.npy", photos)
    before = (tmp_path / "photos.npy").read_bytes()
    whole = open_data(tmp_path / "photos.npy").train
    assert (tmp_path / "photos.npy").samefile(mapping_of(whole.images))
    whole.images[3] = 0
    assert (tmp_path / "photos.npy").read_bytes() == before


def mapping_of(tensor):
    """The file that the memory of a tensor is mapped from."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, *_, file = line.split()
        start, end = (int(limit, 16) for limit in span.split("-"))
        if start <= tensor.data_ptr() < end:
            return file
    return None


def test_an_array_that_runs_backwards(photos):
    """As OpenCV's bytes are turned to RGB."""
    backwards = np.ascontiguousarray(photos[..., ::-1])[..., ::-1]
    assert torch.equal(as_source(backwards).images, as_source(photos).images)


@pytest.mark.parametrize("shape", [(30, 20, 24), (30, 20, 24, 1), (30, 1, 20, 24)])
def test_grey_has_three_channels(tmp_path, photos, shape):
    source = opened(tmp_path / "grey.npy", photos[..., 0].reshape(shape)).train
    assert source.images.shape == (30, 3, 20, 24)
    for channel in range(3):
        assert np.array_equal(source.images[:, channel].numpy(), photos[..., 0])
    marked = source.marked([2])
    assert list(marked.bad) == [2]
    assert not torch.equal(marked.images[2], source.images[2])


def test_labels(tmp_path, photos):
    labels = np.arange(30, dtype=np.int32) % 3
    np.savez(tmp_path / "some.npz", images=photos, labels=labels)
    splits = open_data(tmp_path / "some.npz")
    assert repr(splits) == (
        "some train: 24 images, 3 x 20 x 24, 3 classes, 3 to choose by, 3 to score"
    )
    assert isinstance(splits.train, ArraySource)
    together = torch.cat([s.labels for s in (splits.train, splits.validation, splits.test)])
    assert together.bincount().tolist() == [10, 10, 10]
    np.savez_compressed(tmp_path / "none.npz", images=photos)
    assert open_data(tmp_path / "none.npz").train.labels is None


class Trap:
    def __reduce__(self):
        return print, ("this pickle was opened",)


def test_what_cannot_be_is_refused(tmp_path, photos, capsys):
    file = tmp_path / "bad.npy"
    with pytest.raises(ValueError, match=r"images of .*bad.npy are float64, needs uint8; numbers"):
        opened(file, photos / 255)
    with pytest.raises(ValueError, match=r"are \(30, 20, 24, 4\), needs \(n, height, width, 3\)"):
        opened(file, np.zeros((30, 20, 24, 4), np.uint8))
    np.save(file, np.array([Trap()]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"not a readable array: Object arrays"):
        open_data(file)
    assert "opened" not in capsys.readouterr().out
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="not a readable array"):
        open_data(file)
    np.savez(tmp_path / "bad.npz", x=photos, y=photos)
    with pytest.raises(ValueError, match=r"bad.npz holds x, y; needs an array named images"):
        open_data(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(29, np.int64), r"int64 \(29,\), needs a whole number for each of 30"),
        (np.zeros(30), r"float64 \(30,\)"),
        (np.full(30, -1), "a label of .* is -1; needs 0 and up"),
    ],
)
def test_labels_that_cannot_be_are_refused(tmp_path, photos, labels, said):
    np.savez(tmp_path / "bad.npz", images=photos, labels=labels)
    with pytest.raises(ValueError, match=said):
        open_data(tmp_path / "bad.npz")
