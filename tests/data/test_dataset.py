"""Datasets of other people: every kind of item, broken items, resuming, and what is refused."""

import io
import json

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, Subset, TensorDataset

from counterpoint import NarrowResNet, Training, as_source, pretrain, simclr
from counterpoint.data import Batches, Source, as_splits, reading
from counterpoint.data.workers import loader_workers
from counterpoint.framework import Draw

METHOD = simclr(NarrowResNet(widths=(4, 4, 4)), size=16)
PIXELS = torch.arange(3 * 4 * 6).reshape(3, 4, 6).to(torch.uint8)
SEEN = PIXELS.permute(1, 2, 0).numpy()


class Items(Dataset):
    """Anything by number; items that are errors are raised."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, number):
        item = self.items[number]
        if isinstance(item, Exception):
            raise item
        return item


def noise(count, side=20):
    generator = torch.Generator().manual_seed(0)
    return list(torch.randint(256, (count, 3, side, side), generator=generator, dtype=torch.uint8))


def png(pixels=SEEN):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "item",
    [
        Image.fromarray(SEEN),
        PIXELS,
        PIXELS.float() / 255,
        SEEN,
        np.ascontiguousarray(SEEN[..., ::-1])[..., ::-1],  # as OpenCV's bytes are turned to RGB
        np.float64(SEEN) / 255,
        png(),
        (PIXELS, 1),
        [PIXELS, torch.tensor(1)],
        {"image": Image.fromarray(SEEN), "label": 1},
        {"label": 1, "img": SEEN, "more": "words"},
        {"image": {"bytes": png(), "path": None}, "label": 1},
    ],
    ids=lambda item: type(item).__name__,
)
def test_every_kind_of_item_is_the_same_image(item):
    picture = as_source(Items(item, item)).stored(1).picture()
    assert torch.equal(picture.decode(1.0), PIXELS)
    assert (picture.height, picture.width) == (4, 6)


def test_grey_becomes_colour_and_a_turned_photo_stands_upright():
    grey = as_source(Items(SEEN[:, :, 0])).stored(0).picture().decode(1.0)
    assert torch.equal(grey, PIXELS[:1].expand(3, -1, -1))
    turned = Image.fromarray(SEEN)
    turned.getexif()[0x0112] = 6
    seen = as_source([turned]).stored(0).picture()
    assert (seen.height, seen.width) == (6, 4)
    assert torch.equal(seen.decode(1.0), PIXELS.rot90(-1, (1, 2)))


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (PIXELS.float() - 100, r"floats from -100 to -29; needs 0 to 1: leave the normalisation"),
        (torch.zeros(4, 8, 8, dtype=torch.uint8), r"got an array \(4, 8, 8\); needs 1 or 3"),
        (PIXELS.long(), r"array of torch.int64; needs uint8"),
        ({"text": "no image"}, r"an item has text; needs a PIL image"),
        (3, r"got builtins.int; needs a PIL image"),
    ],
)
def test_what_is_no_image_is_refused_at_once(item, words):
    with pytest.raises(TypeError, match=f"data: the items of Items cannot be taken.*{words}"):
        as_source(Items(item, item))


def test_random_transforms_are_refused():
    class Shaken(Items):
        def __getitem__(self, number):
            return torch.randint(256, (3, 8, 8), dtype=torch.uint8)

    with pytest.raises(ValueError, match=r"another image each time.*without random transforms"):
        as_source(Shaken(1, 2))


def test_labels_from_items_lists_and_none():
    pairs = TensorDataset(torch.zeros(6, 3, 4, 4), torch.arange(6) % 3)
    some = as_source(Subset(pairs, [4, 3, 2]))
    assert some.labels_of(torch.tensor([0, 2])).tolist() == [1, 2]
    listed = Items(*noise(3))
    listed.targets, listed.classes = [2, 0, 1], ["a", "b", "c"]
    source = as_source(listed)
    assert source.labels_of(torch.tensor([0, 2])).tolist() == [2, 1]
    assert source.classes == ("a", "b", "c")
    listed.targets = [-1, -1, -1]  # as the Hub marks images whose labels nobody has
    assert not as_source(listed).has_labels
    with pytest.raises(ValueError, match="needs labels"):
        as_source(noise(3)).labels_of(torch.tensor([0]))
    splits = as_splits({"train": Items(*noise(20)), "test": Items(*noise(4))})
    assert (len(splits.train), len(splits.test)) == (20, 4)


def test_an_item_whose_label_cannot_be_read_is_named_with_the_reason():
    class LastIsBroken(Items):
        def __getitem__(self, number):
            if number == len(self) - 1:
                raise OSError("the disk is gone")
            return super().__getitem__(number)

    source = as_source(LastIsBroken(*({"image": SEEN, "label": 1} for _ in range(9))))
    with pytest.raises(ValueError, match=r"item 8 has no label; .* \(OSError: the disk is gone\)"):
        source.labels_of(torch.tensor([0, 8]))


def test_a_fingerprint_knows_images_and_labels():
    images = noise(6)
    pairs = [(image, n % 2) for n, image in enumerate(images)]
    known = as_source(Items(*pairs)).fingerprint()
    assert known.startswith("items1-6-")
    assert as_source(Items(*pairs)).fingerprint() == known
    assert as_source(pairs).fingerprint() == known
    assert as_source(Items(*pairs[:4], (images[4], 1), pairs[5])).fingerprint() != known
    assert as_source(Items(*pairs[:4], (images[0], 0), pairs[5])).fingerprint() != known
    assert as_source(Items(*pairs)).subset("some", torch.arange(5)).fingerprint() != known


def test_batches_do_not_depend_on_workers_and_bad_items_are_set_aside():
    items = noise(40)
    items[11] = FileNotFoundError("gone")
    items[23] = ValueError("a mistake of the user's own code")
    source = as_source(Items(*items))
    views = METHOD.build(image=(3, 16, 16)).views
    found = []
    for workers in (0, 2):
        batches = Batches(source, batch=8, seed=0, cut=views.cut, workers=workers)
        found.append([(b.images[0], b.images[1], b.index, b.bad) for b in batches])
    for alone, shared in zip(*found, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(alone, shared, strict=True))
    bad = {sample for *_, rows in found[0] for sample, _ in rows.tolist()}
    assert bad == {11, 23}
    marked = source.marked([11, 23])
    assert marked.bad == {11: "missing", 23: "not an image"}
    again = marked.read(views.cut, Draw(0, 0, torch.arange(8, 16)))
    assert torch.equal(
        again.images[0], source.read(views.cut, Draw(0, 0, torch.arange(8, 16))).images[0]
    )
    own = source.read(views.cut, Draw(0, 0, torch.arange(8, 16)), substitute=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "WAITING", 1)  # one picture waits at a time
        alone = source.read(views.cut, Draw(0, 0, torch.arange(8, 16)), substitute=False)
    assert torch.equal(alone.index, own.index)
    assert all(torch.equal(*views) for views in zip(alone.images, own.images, strict=True))
    assert own.index.tolist() == [8, 9, 10, 12, 13, 14, 15]


def test_a_run_on_a_dataset_resumes_to_the_bit(tmp_path):
    items = noise(48)
    items[5] = OSError("broken")
    training = Training(batch=8, epochs=2)
    settings = {"training": training, "size": 16, "workers": 2, "health": False}
    whole = pretrain(METHOD, Items(*items), out=tmp_path / "a", **settings)
    pretrain(METHOD, Items(*items), out=tmp_path / "b", save_seconds=0, **settings)
    for file in (tmp_path / "b").iterdir():  # as if it had been killed in the second epoch
        if file.name != "checkpoints":
            file.unlink()
    names = sorted((tmp_path / "b" / "checkpoints").iterdir(), key=lambda place: place.name)
    last = names.pop()
    for file in sorted(last.rglob("*"), reverse=True):
        file.unlink()
    last.rmdir()
    resumed = pretrain(METHOD, Items(*items), out=tmp_path / "b", resume="auto", **settings)
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name])
    lines = (tmp_path / "a" / "quarantine.jsonl").read_text().splitlines()
    listed = [json.loads(line) for line in lines]
    assert listed == [{"sample": 5, "kind": "truncated", "path": None}]
    with pytest.raises(ValueError, match="the data is not the same"):
        pretrain(METHOD, Items(*noise(47)), out=tmp_path / "b", resume="auto", **settings)


def test_one_rule_for_workers(monkeypatch):
    in_memory, items = as_source(torch.stack(noise(3))), as_source(noise(3))
    assert all(isinstance(source, Source) for source in (in_memory, items))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(20)))
    assert [loader_workers(items, asked) for asked in (None, 0, 3)] == [8, 0, 3]
    assert [loader_workers(in_memory, asked) for asked in (None, 0, 3)] == [0, 0, 0]
