"""Probes against scikit-learn, and a test split that is read once."""

import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier

from counterpoint.data import Source, Splits
from counterpoint.evaluation import Representation, evaluate, knn, mlp, protocol
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet


def blobs(count, seed):
    """Three classes of vectors that overlap a little."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(3, (count,), generator=generator)
    centres = torch.eye(3, 8) * 2.2
    return centres[labels] + torch.randn(count, 8, generator=generator), labels


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


def test_the_probe_learns_and_is_chosen_on_validation():
    probe = mlp(blobs(600, 0), blobs(200, 1), epochs=5)
    assert probe.validation == probe.accuracy(blobs(200, 1))
    assert probe.accuracy(blobs(200, 2)) > 0.8
    hidden = [m for m in probe.net if isinstance(m, torch.nn.Linear)]
    assert [m.out_features for m in hidden] == [1024, 3]


def test_two_probes_of_one_seed_are_equal():
    runs = [mlp(blobs(300, 0), blobs(100, 1), epochs=2) for _ in range(2)]
    weights = [torch.cat([p.flatten() for p in run.net.parameters()]) for run in runs]
    assert torch.equal(*weights)


def splits(count=60):
    def part(name, seed):
        generator = torch.Generator().manual_seed(seed)
        images = torch.randint(256, (count, 3, 16, 16), generator=generator, dtype=torch.uint8)
        return Source(name, images, torch.arange(count) % 3)

    return Splits(part("train", 0), part("validation", 1), part("test", 2))


@pytest.fixture
def representation():
    torch.manual_seed(0)
    encoder = NarrowResNet(widths=(8, 8), blocks=(1, 1))
    return Representation(simclr(encoder, size=16).build(image=(3, 16, 16)))


def test_test_labels_are_read_after_every_choice(representation, monkeypatch):
    order = []
    labels, probe = protocol._labels, protocol.mlp
    monkeypatch.setattr(protocol, "_labels", lambda s: order.append(s.name) or labels(s))
    monkeypatch.setattr(protocol, "mlp", lambda *a, **k: order.append("mlp") or probe(*a, **k))
    evaluate(representation, splits())
    assert order == ["train", "validation", "mlp", "test"]


def test_an_unlabelled_source_is_refused(representation):
    whole = splits()
    bare = Splits(Source("bare", whole.train.images), whole.validation, whole.test)
    with pytest.raises(ValueError, match="bare has no labels"):
        evaluate(representation, bare)


def test_embedding_is_the_same_in_any_batch_and_leaves_the_encoder_as_it_was(representation):
    images = splits().train.images
    representation.encoder.train()
    statistics = representation.encoder.backbone.bn1.running_mean.clone()
    vectors = representation(images, batch=7)
    torch.testing.assert_close(vectors, representation(images, batch=60))
    assert representation.encoder.training
    assert torch.equal(statistics, representation.encoder.backbone.bn1.running_mean)
