"""What stands in for an image that cannot be read is trained on by its own label."""

import json

import pytest
import torch
from PIL import Image

from counterpoint.data import ArraySource, open_data
from counterpoint.data.reading import shown_samples
from counterpoint.framework import ALONE, Draw
from counterpoint.parts.views import pipelines
from data.bombs import encoded
from shard_folders import make_shards
from training.rank_processes import run_ranks
from training.stand_ins import SHADES, labels_of_step, shade, shades_of, write_shades

WORKER = """
import json, sys
import torch.distributed as dist
rank, ranks, store, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
from training.stand_ins import labels_of_step
world, _, seen = labels_of_step(f"{place}/files")
with open(f"{place}/{rank}.json", "w") as file:
    json.dump([world.labels.tolist(), seen.tolist()], file)
dist.destroy_process_group()
"""


@pytest.mark.parametrize("known", [[], [0, 8], range(3)])
def test_the_label_is_that_of_the_image_that_is_seen(known, tmp_path):
    files = write_shades(tmp_path).marked(known)
    every = torch.arange(len(files))
    cut = pipelines.simclr_views(16).build((3, 16, 16)).cut
    batch = files.read(cut, Draw(0, 0, every))
    assert torch.equal(batch.index, every)
    assert torch.equal(files.labels_of(shown_samples(files, batch)), shades_of(batch))
    assert (files.labels_of(every) != shades_of(batch)).any(), "nobody of another class stands in"


@pytest.mark.parametrize("shape", [(3, 8, 8), None])
def test_the_label_is_that_of_the_image_that_is_seen_in_shards(shape, tmp_path):
    def grey(number):
        return encoded(Image.new("RGB", (8, 8), (shade(number % SHADES),) * 3), "PNG")

    made = make_shards(tmp_path / "shards", (9, 9), shape=shape, picture=grey)
    source = open_data(made).train.marked([0, 4, 8, 9])
    every = torch.arange(len(source))
    cut = pipelines.simclr_views(8).build((3, 8, 8)).cut
    batch = source.read(cut, Draw(0, 0, every))
    images = batch.images if shape else batch.images[0]
    seen = shades_of(batch._replace(images=(images,)))
    assert torch.equal(source.labels_of(shown_samples(source, batch)), seen)
    assert (source.labels_of(every) != seen).any(), "nobody of another class stands in"


@pytest.mark.parametrize("cut", ["first", "subset"])
def test_images_in_memory_keep_their_labels_when_they_are_cut(cut):
    """What stands in was put there before the cut, and is numbered by the whole."""
    labels = torch.arange(200) % SHADES
    images = (100 * labels).to(torch.uint8)[:, None, None, None].repeat(1, 3, 8, 8)
    whole = ArraySource("shades", images, labels).marked(range(0, 200, 5))
    assert not torch.equal(whole.labels, labels), "nobody of another class stands in"
    some = whole.first(50) if cut == "first" else whole.subset("half", torch.arange(1, 200, 2))
    every = torch.arange(len(some))
    batch = some.read(None, Draw(0, 0, every))
    seen = shades_of(batch._replace(images=(batch.images,)))
    assert torch.equal(some.labels_of(shown_samples(some, batch)), seen)


def test_a_step_learns_by_the_labels_that_are_seen(tmp_path):
    write_shades(tmp_path)
    world, labels, seen = labels_of_step(tmp_path)
    assert world == ALONE
    assert torch.equal(labels, seen)


def test_every_rank_knows_what_the_others_see(tmp_path):
    """What one rank cannot read no other knows of: labels do not follow from the numbers."""
    write_shades(tmp_path / "files")
    run_ranks(WORKER, 2, 2, tmp_path / "store", tmp_path, seconds=120)
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    seen = [label for _, own in found for label in own]
    assert [labels for labels, _ in found] == [seen, seen]
