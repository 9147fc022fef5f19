"""CIFAR-10, STL-10 and ImageNet in their official layouts, made small; and the paper's splits."""

import builtins
import io
import pickle

import numpy as np
import pytest
import torch
from PIL import Image

from counterpoint.data import ArraySource, cifar10, imagenet, open_data, stl10
from counterpoint.data.layouts.cifar10 import CLASSES, cifar10_binary
from counterpoint.data.layouts.stl10 import Counts
from counterpoint.data.source import all_labels
from counterpoint.framework import Draw
from counterpoint.framework.settings import Training
from counterpoint.parts.views import pipelines
from counterpoint.pretraining import pretrain


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch, request):
    if "cifar" not in request.fixturenames:
        monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))


def write_cifar(folder, images, labels, *, each):
    """The official layout: a label byte, then red, green and blue, each row by row."""
    folder.mkdir(parents=True, exist_ok=True)
    records = np.concatenate([labels[:, None].astype(np.uint8), images.reshape(len(images), -1)], 1)
    names = [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]
    for place, name in enumerate(names):
        records[place * each : (place + 1) * each].tofile(folder / name)
    (folder / "batches.meta.txt").write_text("\n".join(CLASSES) + "\n\n")


@pytest.fixture
def small(tmp_path):
    """Twenty images a file; every pixel tells where it belongs."""
    generator = np.random.default_rng(0)
    images = generator.integers(256, size=(120, 3, 32, 32), dtype=np.uint8)
    labels = np.arange(120) % 10
    write_cifar(tmp_path / "cifar-10-batches-bin", images, labels, each=20)
    return tmp_path / "cifar-10-batches-bin", torch.from_numpy(images), torch.from_numpy(labels)


def test_cifar10_binary(small):
    folder, images, labels = small
    splits = cifar10_binary(folder, count=20)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [90, 10, 20]
    assert torch.equal(splits.test.images, images[100:])
    assert torch.equal(splits.test.labels, labels[100:])
    assert splits.train.classes == CLASSES
    both = torch.cat([splits.train.images, splits.validation.images])
    assert {i.numpy().tobytes() for i in both} == {i.numpy().tobytes() for i in images[:100]}
    assert both.is_contiguous()


def test_the_binary_files_and_the_parquet_files_are_the_same_data(cifar, data, tmp_path):
    """All of CIFAR-10, written in the official layout: one so one split."""
    from counterpoint.data.layouts.cifar10 import read_parquet

    train, test = (read_parquet(data / "cifar10", split) for split in ("train", "test"))
    images, labels = (torch.cat(pair).numpy() for pair in zip(both(train), both(test), strict=True))
    write_cifar(tmp_path / "cifar-10-batches-bin", images, labels, each=10_000)
    for place in (tmp_path, tmp_path / "cifar-10-batches-bin"):  # one level below, or the folder
        splits = open_data(place)
        for mine, theirs in ((splits.train, cifar.train), (splits.validation, cifar.validation)):
            assert mine.fingerprint() == theirs.fingerprint()
            assert repr(mine) == repr(theirs)
    assert cifar10(tmp_path / "cifar-10-batches-bin").test.fingerprint() == cifar.test.fingerprint()


def both(source):
    return source.images, source.labels


@pytest.mark.parametrize("change", [-1, 1, -3073])
def test_a_binary_file_of_a_wrong_size_is_refused(small, change):
    folder, *_ = small
    file = folder / "data_batch_3.bin"
    content = file.read_bytes()
    file.write_bytes(content[:change] if change < 0 else content + bytes(change))
    found = f"{20 * 3073 + change:,}"
    with pytest.raises(ValueError, match=rf"data_batch_3.bin has {found} bytes, needs 61,460: 20"):
        cifar10_binary(folder, count=20)


def test_the_official_size_is_asked_for(small):
    folder, *_ = small
    with pytest.raises(ValueError, match=r"data_batch_1.bin has 61,460 bytes, needs 30,730,000"):
        open_data(folder.parent)


def test_a_missing_batch_and_a_strange_label(small):
    folder, *_ = small
    content = (folder / "data_batch_5.bin").read_bytes()
    (folder / "data_batch_5.bin").write_bytes(b"\x0b" + content[1:])
    with pytest.raises(
        ValueError, match=r"labels of .*data_batch_5.bin are \d to 11, needs 0 to 9"
    ):
        cifar10_binary(folder, count=20)
    (folder / "data_batch_5.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"data_batch_5.bin is missing; found batches.meta"):
        cifar10_binary(folder, count=20)


class Trap:
    def __reduce__(self):
        return print, ("this pickle was opened",)


@pytest.mark.parametrize("below", ["", "cifar-10-batches-py"])
def test_pickles_are_never_opened(tmp_path, below, capsys, monkeypatch):
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    for name in ("data_batch_1", "test_batch", "batches.meta"):
        (folder / name).write_bytes(pickle.dumps(Trap()))
    opened = []
    for owner, name in ((builtins, "open"), (io, "open")):
        real = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *a, real=real, **k: opened.append(str(a[0])) or real(*a, **k)
        )
    with pytest.raises(ValueError, match=r"pickles, which can run any code.*cifar-10-batches-bin"):
        open_data(tmp_path)
    assert "opened" not in capsys.readouterr().out
    assert not [name for name in opened if "batch" in name]


def write_stl(folder, images, labels, *, counts):
    """The official layout: each channel column by column, labels from 1."""
    folder.mkdir(parents=True)
    columns = images.transpose(0, 1, 3, 2)
    start = 0
    for name, count in (
        ("unlabeled", counts.unlabelled),
        ("train", counts.train),
        ("test", counts.test),
    ):
        columns[start : start + count].tofile(folder / f"{name}_X.bin")
        if name != "unlabeled":
            (labels[start : start + count] + 1).astype(np.uint8).tofile(folder / f"{name}_y.bin")
        start += count
    (folder / "class_names.txt").write_text("airplane\nbird\ncar\ncat\ndeer\ndog\nhorse\nmonkey\n")
    (folder / "fold_indices.txt").write_text("0 1 2\n")


COUNTS = Counts(unlabelled=40, train=30, test=10, validation=3)


@pytest.fixture
def stl(tmp_path):
    generator = np.random.default_rng(1)
    images = generator.integers(256, size=(80, 3, 96, 96), dtype=np.uint8)
    labels = np.arange(80) % 10
    write_stl(tmp_path / "stl10_binary", images, labels, counts=COUNTS)
    return tmp_path / "stl10_binary", torch.from_numpy(images), torch.from_numpy(labels)


def test_stl10(stl):
    folder, images, labels = stl
    splits = stl10(folder, counts=COUNTS)
    assert repr(splits) == (
        "stl10 train: 40 images, 3 x 96 x 96, no labels, 27 to learn labels from, "
        "3 to choose by, 10 to score"
    )
    assert torch.equal(splits.train.images, images[:40])  # rows and columns are the right way
    assert torch.equal(splits.test.images, images[70:])
    assert torch.equal(splits.test.labels, labels[70:])
    assert splits.test.classes[-1] == "monkey"
    together = torch.cat([splits.labelled.images, splits.validation.images])
    assert {i.numpy().tobytes() for i in together} == {i.numpy().tobytes() for i in images[40:70]}
    probed = splits.for_probes()
    assert probed.train is splits.labelled
    assert probed.for_probes() is probed
    assert len(splits.head(5).labelled) == 5


def test_the_split_of_stl10_is_the_papers():
    counts = Counts()
    assert (counts.unlabelled, counts.train, counts.validation, counts.test) == (
        *(100_000, 5_000),
        *(500, 8_000),
    )


def test_stl10_of_a_wrong_size_is_refused(stl):
    folder, *_ = stl
    with pytest.raises(
        ValueError, match=r"train_y.bin has 30 bytes, needs 5,000: 5,000 records of 1"
    ):
        open_data(folder.parent)  # one level below
    (folder / "unlabeled_X.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"unlabeled_X.bin is missing; found class_names"):
        stl10(folder, counts=COUNTS)


def test_stl10_trains_at_the_papers_64_pixels(stl, tmp_path):
    folder, *_ = stl
    splits = stl10(folder, counts=COUNTS)
    training = Training(batch=8, epochs=1)
    run = pretrain(
        "amdim-small",
        splits,
        out=tmp_path / "run",
        size=64,
        steps=1,
        training=training,
        health=False,
    )
    assert run.image == (3, 96, 96)
    (seen, *_) = run.model.views(splits.train.images[:2], Draw(0, 0, torch.arange(2)))
    assert seen.shape[-2:] == (64, 64)
    assert len(run.embed(splits.test)) == 10


def test_views_of_mapped_images_are_those_of_images_in_memory(stl):
    """STL-10 stays on the disk column by column; nothing is seen of that."""
    folder, images, _ = stl
    mapped = stl10(folder, counts=COUNTS).train
    plain = ArraySource("plain", images[:40].contiguous())
    assert mapped.fingerprint() == plain.fingerprint()
    views = pipelines.simclr_views(64).build((3, 96, 96))
    index = torch.tensor([3, 17, 5])
    draw = Draw(0, 0, index)
    seen = (views(source.images[index], draw) for source in (mapped, plain))
    for one, other in zip(*seen, strict=True):
        assert torch.equal(one, other)


def jpeg(path, shade):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (30, 20), (shade % 256, 40, 90)).save(path, "JPEG")


@pytest.fixture
def folders(tmp_path):
    place = tmp_path / "ilsvrc"
    for kind, wnid in enumerate(("n01440764", "n01443537", "n02123045")):
        for number in range(20):
            jpeg(place / "train" / wnid / f"{wnid}_{number}.JPEG", 20 * number + kind)
    return place


def test_imagenet(folders):
    """The official validation images are the test; some training images are for validation."""
    for wnid in ("n01443537", "n02123045"):  # a class is missing: numbers must still agree
        for number in range(3):
            jpeg(folders / "val" / wnid / f"ILSVRC2012_val_{number}.JPEG", number)
    splits = open_data(folders)
    assert repr(splits) == ("ilsvrc train: 54 image files, 3 folders, 6 to choose by, 6 to score")
    for part in (splits.train, splits.validation, splits.test):
        assert [part.classes[label] for label in all_labels(part).tolist()] == [
            path.parent.name for path in part.paths
        ]
    assert {path.parent.parent.name for path in splits.test.paths} == {"val"}
    assert splits.test.name == "ilsvrc test"
    assert not set(splits.train.paths) & set(splits.validation.paths)


def test_imagenet_with_a_flat_validation_folder(folders):
    for number in range(7):
        jpeg(folders / "val" / f"ILSVRC2012_val_{number}.JPEG", number)
    splits = imagenet(folders)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [54, 6, 7]
    assert not splits.test.has_labels
    for number in range(4):  # nobody has the labels of ImageNet's test images
        jpeg(folders / "test" / f"ILSVRC2012_test_{number}.JPEG", number)
    assert len(imagenet(folders).test) == 7


@pytest.mark.parametrize("part", ["val", "test"])
def test_one_class_alone_keeps_its_label(folders, part):
    """It is not the first class: a number of its own would be another's."""
    for number in range(3):
        jpeg(folders / part / "n02123045" / f"{number}.jpg", number)
    (folders / part / "n01440764").mkdir()  # nothing is in it
    test = open_data(folders).test
    assert [test.classes[label] for label in all_labels(test).tolist()] == 3 * ["n02123045"]


def test_one_folder_that_is_no_class_has_no_labels(folders):
    """As Tiny ImageNet has it: val/images, and a file of labels beside it."""
    jpeg(folders / "val" / "images" / "1.jpg", 1)
    assert not open_data(folders).test.has_labels
    jpeg(folders / "test" / "n02123045" / "1.jpg", 1)
    jpeg(folders / "test" / "loose.jpg", 2)
    assert not imagenet(folders).test.has_labels


def test_folders_for_all_three_splits_are_what_they_are_called(folders):
    for part, count in (("validation", 2), ("test", 4)):
        for number in range(count):
            jpeg(folders / part / "n01440764" / f"{number}.jpg", number)
            jpeg(folders / part / "n01443537" / f"{number}.jpg", number)
    splits = open_data(folders)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [60, 4, 8]


def test_a_class_that_training_has_not_is_refused(folders):
    jpeg(folders / "val" / "n01440764" / "1.jpg", 1)
    jpeg(folders / "val" / "n09999999" / "1.jpg", 1)
    with pytest.raises(ValueError, match=r"val has the class n09999999, which .*train has not"):
        open_data(folders)


def test_imagenets_validation_set_is_of_50_000_images():
    from counterpoint.data.splitting import arranged

    labels = torch.zeros(1_281_167, dtype=torch.int64)
    images = torch.zeros(1, 1, 1, 1, dtype=torch.uint8).expand(1_281_167, 1, 1, 1)
    test = ArraySource("x", images[:50_000], labels[:50_000])
    splits = arranged(ArraySource("x", images, labels), test, None)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [
        *(1_231_167, 50_000),
        50_000,
    ]


def test_nothing_that_can_be_opened_says_what_was_looked_for_and_what_is_there(tmp_path):
    (tmp_path / "cifar-10-binary.tar.gz").touch()
    with pytest.raises(
        FileNotFoundError, match=r"no \.jpg.*binary.*Parquet.*train and val"
    ) as said:
        open_data(tmp_path)
    assert str(said.value).endswith("found cifar-10-binary.tar.gz")
    with pytest.raises(ValueError, match=r"got the file .*gz, needs a folder or one of \.npy"):
        open_data(tmp_path / "cifar-10-binary.tar.gz")
    with pytest.raises(FileNotFoundError, match="data: there is no folder"):
        open_data(tmp_path / "nowhere")
