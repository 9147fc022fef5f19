"""CIFAR-10 as the paper splits it, and batches that do not depend on the ranks."""

import os
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from counterpoint.data import ArraySource, Batches, cifar10
from counterpoint.data.cache import cached
from counterpoint.data.layouts.cifar10 import read_parquet


def test_the_papers_split(cifar):
    assert [len(s) for s in (cifar.train, cifar.validation, cifar.test)] == [45_000, 5_000, 10_000]
    assert cifar.train.images.shape[1:] == (3, 32, 32)
    counts = torch.bincount(cifar.train.labels) + torch.bincount(cifar.validation.labels)
    assert counts.tolist() == [5_000] * 10
    assert torch.bincount(cifar.test.labels).tolist() == [1_000] * 10


def test_no_image_is_in_two_splits(cifar):
    """Compared by content; the data set itself holds a few images twice."""
    train = {image.numpy().tobytes() for image in cifar.train.images}
    validation = {image.numpy().tobytes() for image in cifar.validation.images}
    assert len(train) > 44_900
    assert len(train & validation) < 20


def test_pixels_have_the_published_means(cifar):
    both = torch.cat([cifar.train.images, cifar.validation.images]).double() / 255
    mean = both.mean(dim=(0, 2, 3))
    torch.testing.assert_close(
        mean, torch.tensor([0.49139968, 0.48215841, 0.44653091]).double(), atol=1e-6, rtol=0
    )


def test_a_folder_without_the_files_says_what_it_found(tmp_path):
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(FileNotFoundError, match=r"needs train-\*.parquet in .*photo.jpg"):
        cifar10(tmp_path)


def test_the_cache_is_read_only_while_the_files_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    file, made = tmp_path / "images", []
    file.write_bytes(b"first")

    def make():
        made.append(1)
        return {"images": np.arange(3)}

    for _ in range(2):
        assert cached([file], make)["images"].tolist() == [0, 1, 2]
    assert len(made) == 1
    file.write_bytes(b"other content")
    cached([file], make)
    assert len(made) == 2


def test_files_of_one_name_size_and_time_have_caches_of_their_own(tmp_path, monkeypatch):
    """An archive or a container's layer may set one time for all of its files."""
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "images").write_bytes(name.encode())
        os.utime(tmp_path / name / "images", (0, 0))
        found = cached([tmp_path / name / "images"], lambda name=name: {"x": np.array([name])})
        assert found["x"].tolist() == [name]


def test_an_interrupted_cache_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "images").touch()
    monkeypatch.setattr("numpy.save", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        cached([tmp_path / "images"], lambda: {"x": np.zeros(1)})
    assert not [one for one in (tmp_path / "cache").iterdir() if one.is_dir()]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "file"))
    assert cached([tmp_path / "file"], lambda: {"x": np.zeros(1)})["x"].tolist() == [0.0]


def source(count=23):
    images = torch.arange(count, dtype=torch.uint8)[:, None, None, None].expand(-1, 1, 2, 2)
    return ArraySource("numbers", images.contiguous())


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_global_batches_are_the_same_for_any_number_of_ranks(ranks):
    def batch(step, **share):
        return list(Batches(source(), batch=5, seed=1, **share))[step][1]

    for step in range(4):
        parts = [batch(step, rank=rank, ranks=ranks) for rank in range(ranks)]
        assert torch.equal(torch.cat(parts), batch(step))


def test_an_epoch_has_no_sample_twice_and_its_images_match():
    batches = Batches(source(), batch=5, seed=1)
    drawn = list(batches)
    index = torch.cat([batch.index for batch in drawn])
    assert len(index) == len(batches) * 5 == 20
    assert len(index.unique()) == 20
    for images, numbers, _ in drawn:
        assert torch.equal(images[:, 0, 0, 0].long(), numbers)
    batches.sampler.set_epoch(1)
    assert not torch.equal(index, torch.cat([batch.index for batch in batches]))


@pytest.mark.parametrize("batch", [1, 24])
def test_a_batch_that_cannot_be_is_refused(batch):
    with pytest.raises(ValueError, match="data: a batch of"):
        Batches(source(), batch=batch, seed=0)


def test_a_cold_start_decodes_what_the_cache_keeps(data, tmp_path, monkeypatch):
    warm = cifar10(data / "cifar10").test
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path))
    cold = read_parquet(data / "cifar10", "test")
    assert torch.equal(cold.images, warm.images)
    assert torch.equal(cold.labels, warm.labels)


def test_a_limit_takes_the_first_of_each_split(cifar):
    some = cifar.head(7_000)
    assert [len(s) for s in (some.train, some.validation, some.test)] == [7_000, 5_000, 7_000]
    assert torch.equal(some.test.images, cifar.test.images[:7_000])
    assert repr(some.test).startswith("cifar10 first 7,000: 7,000 images")
