"""The contract for images holds for sources of any length: nothing may be as long as the data."""

from dataclasses import dataclass, field, replace

import pytest
import torch

from counterpoint import NarrowResNet, Training, pretrain, simclr
from counterpoint.data import Batches, Source, Splits, as_source, image_files
from counterpoint.data.batch import Batch, bad_rows
from counterpoint.data.decoded_picture import StoredPixels
from counterpoint.data.description import description_line, source_record
from counterpoint.data.splitting import hold_out
from counterpoint.report.samples import choose

MANY = 1_000_000_000_000  # one byte for each would be a terabyte


@dataclass(frozen=True, eq=False)
class Endless:
    """Images that are computed from their number: what a stream of shards will look like."""

    count: int = MANY
    left_out: torch.Tensor = field(default_factory=lambda: torch.arange(0))
    chosen: torch.Tensor | None = None
    name: str = "endless"
    classes: None = None
    has_labels: bool = True
    bad: dict = field(default_factory=dict)
    one_shape: tuple = (3, 16, 16)
    shards: None = None
    decodes: bool = False
    limit: int | None = None

    def __len__(self):
        return self.count - len(self.left_out) if self.chosen is None else len(self.chosen)

    def __repr__(self):
        return description_line(self.describe())

    def numbers(self, samples):
        if self.chosen is not None:
            return self.chosen[samples]
        before = self.left_out - torch.arange(len(self.left_out))
        return samples + torch.searchsorted(before, samples, right=True)

    def labels_of(self, samples):
        return self.numbers(samples) % 5

    def read(self, cut, draw, *, substitute=True):
        bits = self.numbers(draw.index)[:, None] >> torch.arange(48)
        pixels = ((bits & 7) * 36).to(torch.uint8).repeat(1, 16).view(-1, 3, 16, 16)
        return Batch(pixels, draw.index, bad_rows([]))

    def stored(self, sample):
        from counterpoint.framework import Draw

        images = self.read(None, Draw(0, 0, torch.tensor([sample]))).images
        return StoredPixels(images[0], "made", "RGB")

    def path(self, sample):
        return None

    def subset(self, name, samples):
        return replace(self, chosen=self.numbers(samples), name=f"{self.name} {name}")

    def without(self, name, samples):
        left_out = torch.cat([self.left_out, self.numbers(samples)]).sort().values
        return replace(self, left_out=left_out, name=f"{self.name} {name}")

    def first(self, count):
        return self.subset(f"first {count:,}", torch.arange(min(count, len(self))))

    def named(self, name):
        return replace(self, name=name)

    def marked(self, samples):
        return self

    def fingerprint(self):
        return f"endless-{len(self)}"

    def describe(self):
        return source_record("memory", self.name, len(self), shape=self.one_shape, labels=True)


@pytest.mark.parametrize("source", ["endless", "array", "files"])
def test_sources_keep_the_contract(source, data):
    some = {
        "endless": lambda: Endless(1000),
        "array": lambda: as_source(torch.zeros(50, 3, 8, 8, dtype=torch.uint8)),
        "files": lambda: image_files(data / "caltech20"),
    }[source]()
    assert isinstance(some, Source)
    few = torch.tensor([9, 3])
    assert len(some.subset("few", few)) == 2
    assert len(some.without("rest", few)) == len(some) - 2
    assert some.subset("few", few).path(1) == some.path(3)
    assert some.without("rest", few).path(3) == some.path(4)
    assert some.without("rest", few).path(8) == some.path(10)
    assert some.first(7).named("seven").describe()["name"] == "seven"
    assert some.first(7).describe()["count"] == 7


def test_a_terabyte_of_samples_is_split_read_and_looked_at():
    train, validation = hold_out(Endless(), count=50_000)
    assert (len(train), len(validation)) == (MANY - 50_000, 50_000)
    held = set(validation.chosen.tolist())
    places = torch.tensor([0, 10**6, 10**11, len(train) - 1])
    assert not held & set(train.numbers(places).tolist())
    around = torch.arange(validation.chosen[7] - 9, validation.chosen[7] + 9)
    seen = train.numbers(around)
    assert torch.equal(seen, seen.unique())
    batch = next(iter(Batches(train, batch=8, seed=0)))
    assert int(batch.index.max()) > 10**10
    sample = choose(Splits(train, validation, Endless()), count=20)
    assert len(sample.source) == 20
    assert sample.labels.max() < 5


def test_a_terabyte_of_samples_is_trained_on(tmp_path):
    train, _ = hold_out(Endless(), count=1_000)
    method = simclr(NarrowResNet(widths=(4, 4, 4)), size=16)
    run = pretrain(method, train, out=tmp_path, steps=2, training=Training(batch=16, epochs=1))
    assert (run.folder / "health.jsonl").read_text().count('"knn": 0.') >= 1
