"""Use 3: images of one's own: a torch Dataset, a Hugging Face dataset, a list, an array."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset

from counterpoint import NarrowResNet, Training, as_source, pretrain, simclr
from counterpoint.data import as_splits

METHOD = simclr(NarrowResNet(widths=(4, 4, 4)), size=16)
SHORT = Training(batch=8, epochs=1)


def picture(number, side=24):
    """A PIL image that no other number has."""
    pixels = np.random.default_rng(number).integers(256, size=(side, side + number % 3, 3))
    return Image.fromarray(pixels.astype(np.uint8))


class Pictures(Dataset):
    """What a user has: PIL images and labels, by number."""

    def __init__(self, count=32):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return picture(number), number % 4


def test_a_torch_dataset(tmp_path):
    run = pretrain(METHOD, Pictures(), out=tmp_path, training=SHORT, size=16, workers=2)
    vectors = run.embed(Pictures())
    assert vectors.shape == (32, 4)
    assert bool(vectors.isfinite().all())


def test_labels_and_splits_of_a_dataset(tmp_path):
    splits = as_splits(Pictures(100))
    assert repr(splits) == "Pictures train: 80 dataset items, labels, 10 to choose by, 10 to score"
    run = pretrain(METHOD, splits, out=tmp_path, training=SHORT, size=16, workers=0)
    result = run.evaluate(splits, probes=("knn",), workers=0)
    assert 0 <= result.probes[0].test <= 1


class Columns:
    """A Hugging Face dataset, by what it is asked: items are dicts, columns have names."""

    column_names = ("image", "label")

    def __init__(self, count=32, names=("image", "label")):
        self.count, self.column_names = count, names
        self.features = {"label": type("ClassLabel", (), {"names": ["a", "b", "c", "d"]})()}

    def __len__(self):
        return self.count

    def select_columns(self, names):
        return Columns(self.count, tuple(names))

    def __getitem__(self, number):
        if isinstance(number, slice):
            assert "image" not in self.column_names, "all images are decoded for their labels"
            return {"label": [n % 4 for n in range(self.count)]}
        return {n: picture(number) if n == "image" else number % 4 for n in self.column_names}


def test_a_hugging_face_dataset(tmp_path):
    source = as_source(Columns(), name="pets")
    assert repr(source) == "pets: 32 dataset items, 4 classes"
    assert source.classes == ("a", "b", "c", "d")
    assert source.labels_of(torch.tensor([5, 2])).tolist() == [1, 2]
    pretrain(METHOD, source, out=tmp_path, training=SHORT, size=16, workers=0)


def test_a_list_of_pil_images_and_a_list_of_paths(tmp_path):
    pictures = [picture(n) for n in range(16)]
    for number, one in enumerate(pictures):
        one.save(tmp_path / f"{number}.png")
    files = [tmp_path / f"{n}.png" for n in range(16)]
    for some in (pictures, [Image.open(file) for file in files], files):
        source = as_source(some)
        assert repr(source) == "images: 16 dataset items, no labels"
        pixels = source.stored(3).picture().decode(1.0)
        assert np.array_equal(pixels.permute(1, 2, 0).numpy(), np.asarray(pictures[3]))
    assert as_source(files).path(3) == str(files[3])


def test_arrays():
    pixels = np.zeros((9, 8, 6, 3), np.uint8)
    assert repr(as_source(pixels, name="zeros")) == "zeros: 9 images, 3 x 8 x 6, no labels"
    labels = torch.arange(9) % 2
    assert as_source(torch.zeros(9, 1, 8, 8, dtype=torch.uint8), labels=labels).has_labels


class Stream(IterableDataset):
    """Images without numbers."""

    def __iter__(self):
        yield picture(0)


@pytest.mark.parametrize("given", [7, None, {"a": 1}, {1, 2}, iter([picture(0)]), Stream()])
def test_what_holds_no_images_is_refused_with_what_does(given):
    with pytest.raises(TypeError, match=r"needs a path, Splits, a Source, .*a list of images"):
        as_source(given)
