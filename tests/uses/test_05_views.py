"""Use 5: the views of a method as a transform in somebody else's data loader."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision import transforms

from counterpoint import ViewTransform, byol, cmc, simclr
from counterpoint.framework import Draw


@pytest.fixture(scope="module")
def files(data):
    return sorted((data / "caltech20").glob("*/*.jpg"))[::100]


class Photos(Dataset):
    """What a user of torchvision writes; `numbered` hands on the number of the sample."""

    def __init__(self, files, transform, *, numbered=False):
        self.files, self.transform, self.numbered = files, transform, numbered

    def __len__(self):
        return len(self.files)

    def __getitem__(self, number):
        image = Image.open(self.files[number])
        return self.transform(image, index=number) if self.numbered else self.transform(image)


def batches(files, *, workers, numbered=False):
    photos = Photos(files, ViewTransform(simclr(size=64), seed=7), numbered=numbered)
    loader = DataLoader(photos, batch_size=5, num_workers=workers)
    return [torch.cat(views) for views in zip(*loader, strict=True)]


def test_photos_of_any_size_in_a_loader_with_workers(files):
    torch.manual_seed(0)
    first, second = batches(files, workers=2)
    assert first.shape == second.shape == (len(files), 3, 64, 64)
    assert not torch.equal(first, second), "the views of an image differ"
    assert not torch.equal(first, batches(files, workers=2)[0]), "and so do those of two epochs"
    torch.manual_seed(0)
    assert torch.equal(first, batches(files, workers=2)[0]), "torch.manual_seed repeats them"


def test_with_the_samples_number_workers_and_seeds_of_torch_change_nothing(files):
    some = batches(files, workers=0, numbered=True)
    torch.manual_seed(1)
    others = batches(files, workers=2, numbered=True)
    assert all(map(torch.equal, some, others))


@pytest.mark.parametrize("method", [simclr(), byol(size=32), cmc(size=32)])
def test_they_are_the_views_that_pretraining_makes(cifar, method):
    images, numbers = cifar.train.images[:4], torch.tensor([3, 1, 4, 159])
    wanted = method.views.build((3, 32, 32))(images, Draw(7, 2, numbers))
    transform = ViewTransform(method, seed=7)
    batch = transform(images, index=numbers, epoch=2)
    single = [transform(x, index=int(n), epoch=2) for x, n in zip(images, numbers, strict=True)]
    pil = [transforms.functional.to_pil_image(x) for x in images]
    photo = [transform(x, index=int(n), epoch=2) for x, n in zip(pil, numbers, strict=True)]
    for view, given in enumerate(wanted):
        assert torch.equal(batch[view], given)
        assert torch.equal(default_collate(single)[view], given)
        assert torch.equal(default_collate(photo)[view], given)


def test_among_the_transforms_of_torchvision(cifar):
    chain = transforms.Compose([transforms.Resize(48), ViewTransform(simclr())])
    view, other = chain(transforms.functional.to_pil_image(cifar.train.images[0]))
    assert view.shape == other.shape == (3, 32, 32)


def test_the_evaluation_view_has_no_chance_in_it(files):
    quiet = ViewTransform(simclr(size=64), evaluation=True)
    (view,), (again,) = quiet(Image.open(files[0])), quiet(Image.open(files[0]))
    assert view.shape == (3, 64, 64)
    assert torch.equal(view, again)


def test_other_kinds_are_refused_with_what_to_write():
    transform = ViewTransform(simclr())
    with pytest.raises(TypeError, match=r"ndarray.*torch.from_numpy\(image\).permute\(2, 0, 1\)"):
        transform(np.zeros((32, 32, 3), np.uint8))
    with pytest.raises(TypeError, match=r"torch.float32, needs torch.uint8.*before ToTensor"):
        transform(torch.rand(3, 32, 32))
    with pytest.raises(ValueError, match="2 sample numbers for 1 images"):
        transform(torch.zeros(3, 32, 32, dtype=torch.uint8), index=torch.tensor([1, 2]))
