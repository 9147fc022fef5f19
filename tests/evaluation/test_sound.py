"""What would make a figure of an evaluation wrong, or end it after hours, is refused or mended."""

from dataclasses import replace

import pytest
import torch

from counterpoint.data import ArraySource, Splits, as_source, as_splits, open_data
from counterpoint.evaluation import Representation, evaluate, finetune
from counterpoint.evaluation.kept import kept_embeddings
from counterpoint.evaluation.probe import Standardise
from counterpoint.methods import moco, simclr
from counterpoint.parts.batch_norm import GroupedBatchNorm, regroup
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.views import CentreCrop, Resize

METHOD = simclr(NarrowResNet(widths=(8, 8), blocks=(1, 1)), size=16)


def splits(count=60):
    def part(name, seed):
        generator = torch.Generator().manual_seed(seed)
        images = torch.randint(256, (count, 3, 16, 16), generator=generator, dtype=torch.uint8)
        return ArraySource(name, images, torch.arange(count) % 3, ("a", "b", "c"))

    return Splits(part("train", 0), part("validation", 1), part("test", 2))


@pytest.fixture
def representation():
    torch.manual_seed(0)
    return Representation(METHOD.build(image=(3, 16, 16)))


def test_kept_embeddings_are_those_of_the_view(tmp_path):
    """The same weights see an image of another side otherwise."""
    whole = splits()
    found = []
    for side in (16, 12):
        views = METHOD.views
        fixed = (Resize(side), CentreCrop(side))
        model = METHOD.swap(views=replace(views, evaluation=fixed)).build(image=(3, 16, 16))
        if found:
            model.load_state_dict(found[0][0].state_dict())
        found.append((model, kept_embeddings(tmp_path, Representation(model), whole, workers=0)))
    assert not torch.equal(found[0][1].train.vectors, found[1][1].train.vectors)


def test_a_feature_that_is_constant_in_training_drowns_no_other():
    train = torch.tensor([[0.0, 1.0], [0.0, 3.0]])
    asked = Standardise(train)(torch.tensor([[0.1, 2.0]]))
    torch.testing.assert_close(asked, torch.tensor([[0.1, 0.0]]))


def test_labels_of_one_class_are_refused_and_unknown_classes_are_said(representation, capsys):
    whole = splits()
    one = as_splits(as_source(whole.train.images, labels=torch.zeros(len(whole.train)).long()))
    with pytest.raises(ValueError, match="are of one class; needs two or more"):
        evaluate(representation, one, probes=("knn",), workers=0)
    images = whole.test.images
    other = as_source(images, labels=torch.full((len(images),), 7))
    evaluate(representation, replace(whole, test=other), probes=("knn",), workers=0)
    assert f"{len(images)} of {len(images)} test images are of classes" in capsys.readouterr().err


@pytest.mark.parametrize(("probes", "robust"), [(("knn", "finetune"), 0), (("knn",), 10)])
def test_what_needs_images_in_memory_is_refused_before_anything_is_embedded(
    probes, robust, data, representation, monkeypatch
):
    monkeypatch.setattr(Representation, "readable", None)
    with pytest.raises(ValueError, match="needs images of one size in memory"):
        evaluate(
            representation, open_data(data / "caltech20"), probes=probes, robust=robust, workers=0
        )
    with pytest.raises(ValueError, match="needs one of knn, linear and mlp"):
        evaluate(representation, splits(), probes=("finetune",), robust=10, workers=0)


def test_an_encoder_is_fine_tuned_without_the_groups_of_its_last_batch():
    method = moco(NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=16)
    model = method.build(image=(3, 16, 16))
    norms = [m for m in model.modules() if isinstance(m, GroupedBatchNorm)]
    assert norms
    regroup(model, torch.arange(64) % 8, 8)
    tuned = finetune(Representation(model), splits().train, splits().test, width=16, epochs=1)
    assert 0 <= tuned.validation <= 1
    assert norms[0].member is not None  # the model itself stays as it was
