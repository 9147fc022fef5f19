"""What would make a figure of an evaluation wrong, or end it after hours, is refused or mended."""

import json
from dataclasses import replace

import pytest
import torch

from counterpoint.data import ArraySource, Splits, as_source, as_splits, open_data
from counterpoint.evaluation import Representation, evaluate, finetune, protocol
from counterpoint.evaluation.health.online_probes import probed
from counterpoint.evaluation.kept import kept_embeddings
from counterpoint.evaluation.probe import Standardise
from counterpoint.framework import Alone
from counterpoint.methods import moco, simclr
from counterpoint.parts.batch_norm import GroupedBatchNorm, regroup
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.norm_conversion import share_statistics
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


def test_a_class_without_test_images_has_no_accuracy_and_json_says_null(representation):
    whole = splits()
    test = whole.test.subset("two classes", (whole.test.labels < 2).nonzero().flatten())
    found = evaluate(representation, replace(whole, test=test), probes=("knn",), workers=0)
    (probe,) = json.loads(json.dumps(found.to_dict(), allow_nan=False))["probes"]
    assert [value is None for value in probe["per_class"]] == [False, False, True]


def test_robustness_looks_at_all_of_sorted_test_images(representation, monkeypatch):
    whole = splits()
    test = whole.test.subset("sorted", whole.test.labels.sort(stable=True).indices)
    seen = []

    def robustness(_representation, _known, some, *, classify):
        seen.append(some.labels.bincount().tolist())
        return Nothing()

    monkeypatch.setattr(protocol, "robustness", robustness)
    evaluate(representation, replace(whole, test=test), probes=("knn",), robust=30, workers=0)
    assert seen == [[10, 10, 10]]


class Nothing:
    def to_dict(self):
        return {}


def test_vectors_of_a_folder_with_splits_are_not_those_of_one_of_them(representation, data):
    for whole in (data / "caltech20", splits()):
        with pytest.raises(ValueError, match=r"needs one split, such as open_data\(path\)\.test"):
            representation(whole)
    assert len(representation(splits().test, workers=0)) == 60


def test_items_of_which_one_has_no_label_have_no_online_probe():
    images = torch.zeros(3_600, 3, 16, 16, dtype=torch.uint8)

    class Partly(torch.utils.data.Dataset):
        def __len__(self):
            return len(images)

        def __getitem__(self, place):
            return images[place], None if place == 60 else place % 3

    model = METHOD.build(image=(3, 16, 16))
    source = as_source(Partly())
    assert probed(model, source, torch.arange(len(source))) == {}
    assert probed(model, source, torch.arange(len(source)).flip(0))  # those have labels


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


class Unanswered(Alone):
    """Two ranks, of which the other is elsewhere."""

    def sum(self, values):
        raise AssertionError("one rank fine-tunes; the other would never answer")


@pytest.mark.parametrize("fused", [False, True])
def test_an_encoder_of_several_ranks_is_fine_tuned_by_one(fused, monkeypatch):
    model = METHOD.build(image=(3, 16, 16))
    share_statistics(model, Unanswered(size=2), fused=fused)
    before = [type(module) for module in model.modules()]
    monkeypatch.setattr(torch.nn.SyncBatchNorm, "_check_input_dim", None)  # its forward fails
    finetune(Representation(model), splits().train, splits().test, width=8, epochs=1)
    assert [type(module) for module in model.modules()] == before
