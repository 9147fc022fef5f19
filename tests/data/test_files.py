"""Folders of files: what is found, and views that no worker, rank, batch or restart changes."""

import pytest
import torch

from counterpoint.data import ArraySource, Batches, image_files, open_data
from counterpoint.framework import Draw, PartError
from counterpoint.parts.views import (
    CentreCrop,
    HorizontalFlip,
    MultiView,
    Pipeline,
    RandomResizedCrop,
    pipelines,
)


@pytest.fixture(scope="module")
def files(data):
    return image_files(data / "caltech20")


@pytest.fixture(scope="module")
def some(files):
    return files.subset("some", torch.arange(0, len(files), 16))


def test_a_folder_with_classes(files):
    assert repr(files) == "caltech20: 1,490 image files, 20 folders"
    assert files.labels.bincount().tolist()[:3] == [80, 80, 80]


def test_a_folder_without_classes(files, tmp_path):
    for number in (5, 3, 9):
        (tmp_path / f"{number}.JPG").write_bytes(files.paths[number].read_bytes())
    (tmp_path / "notes.txt").write_text("no image")
    flat = image_files(tmp_path)
    assert [path.name for path in flat.paths] == ["3.JPG", "5.JPG", "9.JPG"]
    assert flat.labels is None
    splits = open_data(tmp_path)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [3, 0, 0]


def test_labelled_files_are_split(data):
    splits = open_data(data / "caltech20")
    paths = [set(s.paths) for s in (splits.train, splits.validation, splits.test)]
    assert [len(p) for p in paths] == [1192, 149, 149]
    assert len(set.union(*paths)) == 1490


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no \.jpg, \.jpeg, \.png, .* files"):
        open_data(tmp_path)


def epoch(views, source, *, batch=24, rank=0, ranks=1, workers=0, start=0, seed=7, number=2):
    """Every view of every sample of an epoch, by sample number."""
    share = {"rank": rank, "ranks": ranks, "epoch": number, "start": start}
    batches = Batches(source, batch, seed, **share, cut=views.cut, workers=workers)
    seen = {}
    for given, index, _ in batches:
        draw = Draw(seed, number, index)
        drawn = views.finish(given, draw) if isinstance(given, tuple) else views(given, draw)
        for place, sample in enumerate(index.tolist()):
            seen[sample] = [view[place] for view in drawn]
    return seen


def test_crops_of_several_sizes_are_read(some):
    """Multi-crop: a large view and two small ones."""
    large, small = Pipeline((RandomResizedCrop(48),), views=1), Pipeline((RandomResizedCrop(24),))
    few = some.subset("few", torch.arange(6))
    seen = epoch(MultiView((large, small)).build((3, 48, 48)), few, batch=3)
    for views in seen.values():
        assert [view.shape[-1] for view in views] == [48, 24, 24]


def assert_same(seen, expected):
    assert seen
    for sample, views in seen.items():
        for one, other in zip(views, expected[sample], strict=True):
            assert torch.equal(one, other)


@pytest.fixture(scope="module")
def views():
    return pipelines.simclr_views(64).build((3, 64, 64))


@pytest.fixture(scope="module")
def expected(views, some):
    seen = epoch(views, some, batch=len(some))
    assert len(seen) == len(some) == 94
    return seen


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes")
@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_any_number_of_workers(views, some, expected, workers):
    seen = epoch(views, some, workers=workers)
    assert len(seen) == 72
    assert_same(seen, expected)


def test_the_workers_of_a_second_epoch_know_which_it_is(views, some):
    batches = Batches(some, 24, 7, epoch=2, start=1, cut=views.cut, workers=2)
    for number in (2, 3):
        batches.sampler.set_epoch(number)
        alone = Batches(some, 24, 7, epoch=number, start=1 if number == 2 else 0, cut=views.cut)
        for one, other in zip(batches, alone, strict=True):
            assert torch.equal(one.index, other.index)
            for mine, theirs in zip(one.images, other.images, strict=True):
                assert torch.equal(mine, theirs)


def test_a_pass_that_is_left_early_leaves_nothing_behind(views, some):
    batches = Batches(some, 12, 7, cut=views.cut, workers=2)
    next(iter(batches))
    batches.sampler.set_epoch(1)
    seen = [batch.index for batch in batches]
    assert torch.equal(torch.cat(seen), torch.cat([*batches.sampler.shares()]))


@pytest.mark.parametrize("batch", [2, 17, 94])
def test_any_batch(views, some, expected, batch):
    assert_same(epoch(views, some, batch=batch), expected)


def test_any_number_of_ranks(views, some, expected):
    shares = [epoch(views, some, rank=rank, ranks=2, workers=rank) for rank in (0, 1)]
    assert len(shares[0].keys() | shares[1].keys()) == 72
    assert not shares[0].keys() & shares[1].keys()
    for share in shares:
        assert_same(share, expected)


def test_after_a_restart_in_mid_epoch(views, some, expected):
    whole, rest = epoch(views, some), epoch(views, some, start=2, workers=2)
    assert len(rest) == 24
    assert rest.keys() < whole.keys()
    assert_same(rest, expected)


def test_images_in_memory_too(cifar):
    source = ArraySource("some", cifar.train.images[:300])
    views = pipelines.byol_views(32).build((3, 32, 32))
    expected = epoch(views, source, batch=300)
    for settings in ({"batch": 7}, {"rank": 1, "ranks": 2}, {"start": 5}):
        assert_same(epoch(views, source, **settings), expected)


def test_a_picture_is_decoded_once_for_all_views(some):
    views = pipelines.byol_views(64).build((3, 64, 64))
    counted = []

    class Counting:
        def __init__(self, picture):
            self.picture = picture
            self.height, self.width = picture.height, picture.width

        def decode(self, scale):
            counted.append(scale)
            return self.picture.decode(scale)

    index = torch.arange(6)
    draw = Draw(0, 0, index)
    pictures = some.pictures(index)
    cuts = views.cut([Counting(picture) for picture in pictures], draw)
    assert len(counted) == 6
    assert all(0 < scale <= 1 for scale in counted)
    assert [cut.shape for cut in cuts] == [(6, 3, 64, 64)] * 2


def test_files_and_decoded_images_give_the_same_views(some):
    """The worker's cut and the batch's are one thing, where nothing is decoded smaller."""
    views = pipelines.simclr_views(224).build((3, 224, 224))
    index = torch.tensor([3, 40])
    draw = Draw(0, 0, index)
    cuts = views.cut(some.pictures(index), draw)
    for place, (number, picture) in enumerate(zip(index, some.pictures(index), strict=True)):
        whole = picture.decode(1.0)[None]
        alone = Draw(0, 0, number[None])
        for one, other in zip(views.finish(cuts, draw), views(whole, alone), strict=True):
            assert torch.equal(one[place], other[0])


def test_reduced_decoding_moves_boxes_by_less_than_a_pixel(files):
    """Small views of large pictures: close to the views of the whole pictures."""
    views = Pipeline((pipelines.simclr_views(32).stages[0], HorizontalFlip())).build((3, 32, 32))
    index = torch.arange(0, len(files), 100)
    draw = Draw(0, 0, index)
    cuts = views.cut(files.pictures(index), draw)
    whole = [p.decode(1.0)[None] for p in files.pictures(index)]
    apart = []
    for place, image in enumerate(whole):
        exact = views(image, Draw(0, 0, index[place : place + 1]))
        apart += [
            (c[place] / 255 - e[0]).abs().mean().item() for c, e in zip(cuts, exact, strict=True)
        ]
    assert 0 < sum(apart) / len(apart) < 4 / 255  # some were decoded at half their size


def test_evaluation_of_pictures_of_any_size(some):
    for make in (
        pipelines.simclr_views,
        pipelines.amdim_views,
        pipelines.cpc_views,
        pipelines.cmc_views,
    ):
        views = make(64).build((3, 64, 64)).evaluation
        index = torch.arange(5)
        draw = Draw(0, 0, index)
        seen = views.finish(views.cut(some.pictures(index), draw), draw)
        assert [tuple(view.shape) for view in seen] == [(5, *shape) for shape in views.shapes]
        alone = draw.some(1)
        (first, *_) = views.finish(views.cut(some.pictures(index[:1]), alone), alone)
        assert torch.equal(seen[0][:1], first)


def test_pictures_need_a_stage_that_gives_one_size(some):
    views = Pipeline((HorizontalFlip(),)).build((3, 64, 64))
    with pytest.raises(PartError, match=r"pictures of varying size.*random resized crop"):
        views.cut(some.pictures(torch.arange(8)), Draw(0, 0, torch.arange(8)))
    Pipeline((CentreCrop(60),)).build((3, 64, 64)).cut(
        some.pictures(torch.arange(8)), Draw(0, 0, torch.arange(8))
    )
