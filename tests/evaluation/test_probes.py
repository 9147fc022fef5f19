"""Probes against scikit-learn, and a test split that is read once."""

import importlib
import math

import pytest
import torch
from safetensors.torch import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

from counterpoint import Run, Training, pretrain
from counterpoint.data import ArraySource, Splits
from counterpoint.evaluation import Representation, evaluate, finetune, knn, linear, mlp, protocol
from counterpoint.evaluation.finetune import shaken
from counterpoint.evaluation.scores import calibration_error, confusion, interval, per_class
from counterpoint.evaluation.shares import share_of_labels
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet


def blobs(count, seed, spread=1.0):
    """Three classes of vectors that overlap a little."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(3, (count,), generator=generator)
    centres = torch.eye(3, 8) * 2.2
    return centres[labels] + spread * torch.randn(count, 8, generator=generator), labels


def test_knn_equals_scikit_learn():
    (bank, labels), (queries, _) = blobs(400, 0), blobs(150, 1)
    unit = torch.nn.functional.normalize
    theirs = KNeighborsClassifier(
        n_neighbors=20,
        algorithm="brute",
        weights=lambda distance: torch.exp(-(torch.tensor(distance) ** 2) / 2 / 0.1).numpy(),
    )  # of unit vectors: 1 - cos = distance^2 / 2
    theirs.fit(unit(bank, dim=1).numpy(), labels.numpy())
    expected = torch.from_numpy(theirs.predict(unit(queries, dim=1).numpy()))
    assert torch.equal(knn(bank, labels, queries, k=20, chunk=64), expected)


def test_linear_equals_scikit_learn():
    (train, labels), validation, test = blobs(500, 0, 1.5), blobs(300, 1, 1.5), blobs(2000, 2, 1.5)
    ours = linear((train, labels), validation)
    scale = StandardScaler().fit(train.numpy())
    theirs = LogisticRegression(C=1 / (len(train) * ours.settings["penalty"]), tol=1e-8)
    theirs.fit(scale.transform(train.numpy()), labels.numpy())
    expected = torch.from_numpy(theirs.predict_proba(scale.transform(test[0].numpy()))).float()
    # They divide by n, we by n - 1, in the deviation; the optimum is the same but for that.
    torch.testing.assert_close(ours.predict(test[0]), expected, atol=2e-3, rtol=0)
    agree = (ours.predict(test[0]).argmax(1) == expected.argmax(1)).double().mean()
    assert agree > 0.997


def test_the_mlp_is_as_good_as_scikit_learns():
    train, validation, test = blobs(1500, 0, 1.5), blobs(500, 1, 1.5), blobs(4000, 2, 1.5)
    ours = mlp(train, validation, epochs=8).accuracy(test)
    theirs = MLPClassifier((1024,), early_stopping=True, max_iter=60, random_state=0)
    theirs.fit(train[0].numpy(), train[1].numpy())
    assert abs(ours - theirs.score(test[0].numpy(), test[1].numpy())) < 0.015


def test_the_probe_is_chosen_on_validation():
    probe = mlp(blobs(600, 0), blobs(200, 1), epochs=5)
    assert probe.validation == probe.accuracy(blobs(200, 1))
    assert probe.accuracy(blobs(200, 2)) > 0.8


def test_two_probes_of_one_seed_are_equal():
    found = [mlp(blobs(300, 0), blobs(100, 1), epochs=2).predict(blobs(50, 2)[0]) for _ in "ab"]
    assert torch.equal(*found)


def test_confusion_classes_and_calibration():
    generator = torch.Generator().manual_seed(0)
    probabilities = torch.rand(500, 4, generator=generator).softmax(dim=1)
    true = torch.randint(4, (500,), generator=generator)
    predicted = probabilities.argmax(dim=1)
    counts = confusion(predicted, true, classes=4)
    assert counts.tolist() == confusion_matrix(true, predicted).tolist()
    assert math.isclose(
        float(per_class(counts)[2]), float((predicted == 2)[true == 2].double().mean())
    )
    by_hand = 0.0
    confidence = probabilities.double().max(dim=1).values
    for b in range(15):
        inside = (confidence > b / 15) & (confidence <= (b + 1) / 15)
        if inside.any():
            gap = (predicted == true)[inside].double().mean() - confidence[inside].mean()
            by_hand += float(inside.double().mean() * gap.abs())
    assert math.isclose(calibration_error(probabilities, true), by_hand, abs_tol=1e-12)


def test_the_interval_is_that_of_a_binomial():
    right = torch.rand(1, 4000, generator=torch.Generator().manual_seed(0)) < 0.7
    low, high = interval(right)
    mean = float(right.double().mean())
    width = 2 * 1.96 * math.sqrt(mean * (1 - mean) / 4000)
    assert low < mean < high
    assert 0.9 < (high - low) / width < 1.1


def test_shares_have_the_same_of_every_class_and_depend_on_the_seed():
    labels = torch.arange(1000) % 10
    one, other = (share_of_labels(labels, 0.1, seed=seed) for seed in (0, 1))
    assert labels[one].bincount().tolist() == [10] * 10
    assert one.tolist() != other.tolist()
    assert share_of_labels(labels, 1.0, seed=0).tolist() == list(range(1000))


def splits(count=60):
    def part(name, seed):
        generator = torch.Generator().manual_seed(seed)
        images = torch.randint(256, (count, 3, 16, 16), generator=generator, dtype=torch.uint8)
        labels = torch.arange(count) % 3
        images[:, :1] = images[:, :1] // 4 + 64 * labels[:, None, None, None].to(torch.uint8)
        return ArraySource(name, images, labels, ("a", "b", "c"))

    return Splits(part("train", 0), part("validation", 1), part("test", 2))


METHOD = simclr(NarrowResNet(widths=(8, 8), blocks=(1, 1)), size=16)


@pytest.fixture
def representation():
    torch.manual_seed(0)
    return Representation(METHOD.build(image=(3, 16, 16)))


def test_the_test_split_is_read_after_every_choice(representation, monkeypatch):
    """Neither its images nor its labels, before all probes of all seeds and shares are trained."""
    order, whole = [], splits()
    labels, images = protocol._labelled, Representation.readable
    known = lambda v, s: order.append(s.name) or labels(v, s)  # noqa: E731
    seen = lambda r, s, **k: order.append(s.name) or images(r, s, **k)  # noqa: E731
    monkeypatch.setattr(protocol, "_labelled", known)
    monkeypatch.setattr(Representation, "readable", seen)
    for name in ("knn", "linear", "mlp"):
        probe = protocol.FROZEN[name]
        fit = lambda *a, probe=probe, **k: order.append("fit") or probe(*a, **k)  # noqa: E731
        monkeypatch.setitem(protocol.FROZEN, name, fit)
    evaluate(representation, whole, fractions=(1.0, 0.5), seeds=2)
    last = len(order) - 1 - order[::-1].index("fit")
    assert order.count("fit") == 4 + 6
    assert "test" not in order[: last + 1]
    assert order[last + 1 :] == ["test", "test"]


def test_a_result_has_everything(representation):
    result = evaluate(representation, splits(), probes=("linear", "mlp"), seeds=2)
    assert result.classes == ("a", "b", "c")
    linear_result, chancy = result.probes
    assert linear_result.seeds == (0,)
    assert chancy.seeds == (0, 1)
    assert linear_result.spread is None
    assert chancy.spread is not None
    assert linear_result.low <= linear_result.test <= linear_result.high
    assert sum(map(sum, chancy.confusion)) == 2 * 60
    assert result.probe("mlp") is chancy
    with pytest.raises(KeyError, match="no probe knn of 1; there are linear of 1, mlp of 1"):
        result.probe("knn")


def test_robustness_is_asked_of_the_best_frozen_probe(representation):
    result = evaluate(representation, splits(), probes=("knn", "linear"), robust=20)
    best = max(result.probes, key=lambda probe: probe.validation)
    assert result.robustness["probe"] == best.name
    assert result.robustness["images"] == 20
    assert len(result.robustness["corruptions"]["fog"]) == 5


def test_fine_tuning_learns_and_leaves_the_encoder_alone(representation):
    whole = splits()
    before = [p.clone() for p in representation.encoder.parameters()]
    tuned = finetune(representation, whole.train, whole.validation, width=8, epochs=40)
    assert tuned.accuracy(whole.test) > 0.5  # of three classes
    after = list(representation.encoder.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_shaking_moves_and_flips():
    images = torch.arange(16 * 16).view(1, 1, 16, 16).expand(64, 3, 16, 16).to(torch.uint8)
    found = shaken(images, seed=0)
    assert found.shape == images.shape
    assert len({tuple(image.flatten().tolist()) for image in found}) > 20
    straight = [image for image in found if int(image[0, 8, 9]) > int(image[0, 8, 8])]
    assert 16 < len(straight) < 48


def test_embeddings_are_kept(tmp_path, monkeypatch):
    whole = splits()
    run = pretrain(METHOD, whole, out=tmp_path, training=Training(epochs=1, batch=20))
    first = run.evaluate(whole, probes=("knn",))
    calls = []
    embed = Representation.readable
    count = lambda *a, **k: calls.append(1) or embed(*a, **k)  # noqa: E731
    monkeypatch.setattr(Representation, "readable", count)
    again = Run.open(tmp_path).evaluate(whole, probes=("knn",))
    assert len(calls) == 1  # the test images only
    assert again.probes[0].test == first.probes[0].test
    other = Splits(whole.validation, whole.train, whole.test)
    Run.open(tmp_path).evaluate(other, probes=("knn",))
    assert len(calls) == 4


def test_kept_embeddings_are_those_of_the_weights_in_memory(tmp_path):
    """Whoever changes the weights of an open run is not answered with vectors of the file's."""
    whole = splits()
    run = pretrain(METHOD, whole, out=tmp_path, training=Training(epochs=1, batch=20), health=False)
    run.evaluate(whole, probes=("knn",))
    with torch.no_grad():
        for weight in run.encoder.parameters():
            weight.neg_()
    expected = evaluate(Representation(run.model), whole, probes=("knn",)).probes[0]
    found = run.evaluate(whole, probes=("knn",)).probes[0]
    assert (found.validation, found.test) == (expected.validation, expected.test)
    kept = load_file(tmp_path / "embeddings.safetensors")["train"]
    torch.testing.assert_close(kept, Representation(run.model)(whole.train.images))


def test_every_batch_of_fine_tuning_is_shaken_otherwise(representation, monkeypatch):
    """Nor is an epoch of one seed that of the next seed."""
    fine_tuning = importlib.import_module("counterpoint.evaluation.finetune")  # not the function
    seeds = {}
    for first in (0, 1):
        drawn = seeds.setdefault(first, [])
        note = lambda images, *, seed, drawn=drawn: drawn.append(seed) or images  # noqa: E731
        monkeypatch.setattr(fine_tuning, "shaken", note)
        monkeypatch.setattr(fine_tuning, "BATCH", 30)
        finetune(representation, splits().train, splits().test, width=8, seed=first, epochs=2)
    assert len({*seeds[0], *seeds[1]}) == 2 * 2 * 2


def test_an_unlabelled_source_is_refused(representation):
    whole = splits()
    bare = Splits(ArraySource("bare", whole.train.images), whole.validation, whole.test)
    with pytest.raises(ValueError, match="bare has no labels"):
        evaluate(representation, bare)


def test_an_unknown_probe_is_refused(representation):
    with pytest.raises(ValueError, match="no probe 'svm'; there are knn, linear, mlp, finetune"):
        evaluate(representation, splits(), probes=("knn", "svm"))


def test_embedding_is_the_same_in_any_batch_and_leaves_the_encoder_as_it_was(representation):
    images = splits().train.images
    representation.encoder.train()
    statistics = representation.encoder.backbone.bn1.running_mean.clone()
    vectors = representation(images, batch=7)
    torch.testing.assert_close(vectors, representation(images, batch=60))
    assert representation.encoder.training
    assert torch.equal(statistics, representation.encoder.backbone.bn1.running_mean)
