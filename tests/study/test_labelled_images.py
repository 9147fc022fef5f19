"""Which labelled images the probes of a trial read."""

import shutil

import pytest
import torch

from counterpoint.data import open_data
from counterpoint.data.source import all_labels
from counterpoint.evaluation import Representation, evaluate
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.study.trial_job import labelled_splits
from study.trials import tiny


@pytest.fixture
def photos(data, tmp_path):
    """Four classes of twenty photos each: a folder lists them class by class."""
    for kind in sorted((data / "caltech20").iterdir())[:4]:
        (tmp_path / "photos" / kind.name).mkdir(parents=True)
        for file in sorted(kind.iterdir())[:20]:
            shutil.copy(file, tmp_path / "photos" / kind.name)
    return tmp_path / "photos"


def test_a_few_labels_are_of_all_classes(photos):
    splits = open_data(photos)
    found = labelled_splits(tiny(untested=True, labelled=16), splits)
    assert len(all_labels(splits.train)[:16].unique()) < 4
    each = all_labels(found.train).bincount().tolist()
    assert sum(each) == 16
    assert min(each) >= 3


def test_labels_in_no_order_are_the_first(cifar):
    found = labelled_splits(tiny(labelled=1000), cifar)
    assert torch.equal(all_labels(found.train), cifar.train.labels[:1000])


def test_a_broken_validation_image_ends_no_trial(photos):
    splits = open_data(photos)
    splits.validation.paths[0].write_bytes(b"rubbish")
    found = labelled_splits(tiny(untested=True, labelled=40), open_data(photos))
    model = simclr(NarrowResNet(widths=(8, 8), blocks=(1, 1)), size=16).build(image=(3, 16, 16))
    result = evaluate(Representation(model), found, probes=("knn",), workers=0)
    assert sum(result.left_out.values()) > 0
