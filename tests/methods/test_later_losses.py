"""Methods with another extraction or similarity equal loops: value and gradient, in float64."""

import pytest
import torch

from counterpoint.framework import ALONE, PartError, Samples, contrast
from counterpoint.methods.densecl import whole_and_places
from counterpoint.parts.encoders import Headed, MomentumEncoder, QueryKeyEncoder
from counterpoint.parts.extraction import (
    Bank,
    ByLabel,
    Compare,
    Keys,
    Matched,
    NearestAnchors,
    Pooled,
    Queue,
    StopGradient,
)
from counterpoint.parts.losses import NCE, Regression, RelationalCrossEntropy
from counterpoint.parts.similarity import (
    Cosine,
    CyclicTau,
    Dot,
    PredictedCosine,
    ProjectedCosine,
    ScaledDot,
)
from counterpoint.parts.views import HorizontalFlip, Pipeline
from reference import losses
from reference import methods as reference
from toy import TinyEncoder, tiny_batch, tiny_method

BOUND = 1e-12
CASES = [10, pytest.param(100, marks=pytest.mark.full)]
DIRECTIONS = Compare.parse("(-1:-1)")
HEAD = Headed(of=TinyEncoder(), out=5, hidden=7, norm=True, last_norm="plain")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let torch add the products of two vectors: 100 cases of each method are many."""
    monkeypatch.setattr(losses, "dot", torch.dot)


def built(seed, **parts):
    torch.manual_seed(seed)
    return tiny_method(**parts).build(image=(3, 8, 8)).double()


def size(seed):
    return 3 + seed % 4


def vectors_of(maps):
    return [m[-1].mean(dim=(2, 3)) for m in maps]


def same(model, ours, theirs):
    """Compare values, and the gradient of every weight of the encoder and the head."""
    weights = [p for p in model.parameters() if p.requires_grad]
    value, wanted = float(ours.detach()), float(theirs.detach())
    assert abs(value - wanted) < BOUND * max(1.0, abs(wanted))
    found = torch.autograd.grad(ours, weights, allow_unused=True, retain_graph=True)
    wanted = torch.autograd.grad(theirs, weights, allow_unused=True)
    pairs = [(a, b) for a, b in zip(found, wanted, strict=True) if b is not None]
    assert len(pairs) > 3
    largest = max(float(b.abs().max()) for _, b in pairs)
    assert max(float((a - b).abs().max()) for a, b in pairs) < BOUND * max(1.0, largest)


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("extraction", [Pooled(), DIRECTIONS])
def test_simsiam(extraction, cases):
    model = built(
        0,
        encoder=HEAD,
        extraction=StopGradient(of=extraction),
        similarity=PredictedCosine(hidden=6),
        loss=Regression(),
    )
    for seed in range(cases):
        views, index = tiny_batch(size(seed), seed=seed)
        z = vectors_of(model.encode(views).online)
        p = [model.similarity.p(one) for one in z]
        if isinstance(extraction, Pooled):  # the predictor's batch norm sees both views
            p = model.similarity.p(torch.cat(z)).split(len(index))
        same(model, contrast(model, views, index), reference.simsiam(p, z))


def test_a_target_with_a_gradient_is_another_loss():
    """What the comparison above can tell."""
    parts = {"encoder": HEAD, "similarity": PredictedCosine(hidden=6), "loss": Regression()}
    views, index = tiny_batch(4)
    found = []
    for extraction in (StopGradient(of=Pooled()), Pooled()):
        model = built(0, extraction=extraction, **parts)
        contrast(model, views, index).backward()
        found.append(model.encoder.head[0].weight.grad)
    assert (found[0] - found[1]).abs().max() > 1e-3


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("tau", [1.0, 0.2])
def test_mocov3(tau, cases):
    model = built(
        1,
        encoder=MomentumEncoder(of=HEAD, views_apart=True),
        extraction=DIRECTIONS,
        similarity=PredictedCosine(hidden=6, tau=tau),
    )
    for seed in range(cases):
        views, index = tiny_batch(size(seed), seed=seed)
        encoded = model.encode(views)
        queries = [model.similarity.p(one) for one in vectors_of(encoded.online)]
        keys = vectors_of(encoded.target)
        same(model, contrast(model, views, index), reference.mocov3(queries, keys, tau))


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("target_tau", [0.04, 0.5])
def test_ressl(target_tau, cases):
    model = built(
        7,
        encoder=QueryKeyEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7), groups=1),
        extraction=Queue(of=Keys(), size=11),
        similarity=Cosine(tau=0.1),
        loss=RelationalCrossEntropy(target_tau=target_tau),
    )
    queue = []
    for seed in range(cases + 1):
        views, index = tiny_batch(size(seed), seed=seed)
        encoded = model.encode(views)
        (z,), keys = vectors_of(encoded.online), vectors_of(encoded.target)[-1]
        ours = contrast(model, views, index)
        if queue:
            same(model, ours, reference.ressl(z, keys, queue, 0.1, target_tau))
        else:
            assert ours == 0  # nothing to relate to
        queue = [*queue, *keys.detach()][-11:]
    assert model.extraction.written > 11  # the oldest were written over


@pytest.mark.parametrize("cases", CASES)
def test_ressl_with_a_head_that_is_learned(cases):
    """A gradient that the remembered vectors have through a head is not lost."""
    model = built(
        8,
        encoder=QueryKeyEncoder(of=TinyEncoder(), groups=1),
        extraction=Queue(of=Keys(), size=9),
        similarity=ProjectedCosine(hidden=(), out=5, tau=0.1),
        loss=RelationalCrossEntropy(target_tau=0.2),
    )
    queue = []
    for seed in range(cases + 1):
        views, index = tiny_batch(size(seed), seed=seed)
        encoded = model.encode(views)
        (z,), keys = vectors_of(encoded.online), vectors_of(encoded.target)[-1]
        head = model.similarity.p[0]
        ours = contrast(model, views, index)
        if queue:
            old = head(torch.stack(queue))
            wanted = reference.ressl(head(z), head(keys), old, 0.1, 0.2)
            same(model, ours, wanted)
        queue = [*queue, *keys.detach()][-9:]


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("similarity", [Cosine(tau=0.1, learn_tau=True), Dot()])
def test_the_target_of_ressl_is_a_cosine_whatever_the_similarity(similarity, cases):
    """The vectors of Dot are not of length one; a learned tau is the scores' alone."""
    model = built(
        8,
        encoder=QueryKeyEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7), groups=1),
        extraction=Queue(of=Keys(), size=9),
        similarity=similarity,
        loss=RelationalCrossEntropy(target_tau=0.2),
    )
    score = reference.dot if isinstance(similarity, Dot) else reference.cosine
    queue = []
    for seed in range(cases + 1):
        views, index = tiny_batch(size(seed), seed=seed)
        encoded = model.encode(views)
        (z,), keys = vectors_of(encoded.online), vectors_of(encoded.target)[-1]
        ours = contrast(model, views, index)
        if queue:
            tau = 1 / model.similarity.scale()
            same(model, ours, reference.ressl(z, keys, queue, tau, 0.2, score))
        queue = [*queue, *keys.detach()][-9:]


@pytest.mark.parametrize("loss", [RelationalCrossEntropy(), NCE()])
@pytest.mark.parametrize("extraction", [Keys(), Matched(by=-1)])
def test_a_loss_that_would_always_be_zero_is_refused(extraction, loss):
    """Keys are positives of their own queries; the negatives come from a queue."""
    with pytest.raises(PartError, match=r"needs negatives for .*; put Queue\(of=\.\.\.\)"):
        built(
            0,
            encoder=QueryKeyEncoder(of=TinyEncoder(), groups=1),
            extraction=extraction,
            similarity=Cosine(tau=0.1),
            loss=loss,
        )


def test_what_a_relational_loss_refuses():
    model = built(0, similarity=Cosine(tau=0.1), loss=RelationalCrossEntropy())
    with pytest.raises(PartError, match="negatives that differ from anchor to anchor"):
        contrast(model, *tiny_batch(4))
    clipped = built(
        0,
        encoder=QueryKeyEncoder(of=TinyEncoder(), groups=1),
        extraction=Queue(of=Keys(), size=9),
        similarity=ScaledDot(clip=20.0),
        loss=RelationalCrossEntropy(),
    )
    with pytest.raises(PartError, match=r"scores clipped at 20\.0"):
        contrast(clipped, *tiny_batch(4))
    with pytest.raises(PartError, match="target_tau=0"):
        RelationalCrossEntropy(target_tau=0.0)


@pytest.mark.parametrize("cases", CASES)
def test_densecl(cases):
    dense = Headed(of=TinyEncoder(), out=5, hidden=7, places=True)
    model = built(
        9,
        encoder=QueryKeyEncoder(of=Headed(of=dense, out=5, hidden=7, map=-2), groups=1),
        extraction=whole_and_places(11),
        similarity=Cosine(tau=0.2),
    )
    queues = [], []
    for seed in range(cases + 1):
        views, index = tiny_batch(size(seed), seed=seed)
        encoded = model.encode(views)
        queries, keys = (
            [(*(m[i] for m in maps[-3:-1]), maps[-1][i, :, 0, 0]) for i in range(len(index))]
            for maps in (encoded.online[0], encoded.target[-1])
        )
        assert queries[0][1].shape[1] > 1  # places
        ours = contrast(model, views, index)
        same(model, ours, reference.densecl(queries, keys, queues, 0.2))
        new = [k[2] for k in keys], [k[1].mean(dim=(1, 2)) for k in keys]
        queues = tuple([*old, *more][-11:] for old, more in zip(queues, new, strict=True))
    assert [one.written for one in model.extraction.of] == [model.extraction.of[0].written] * 2
    assert model.extraction.of[0].written > 11  # the oldest were written over


@pytest.mark.parametrize("cases", CASES)
def test_nnclr(cases):
    model = built(
        2,
        encoder=HEAD,
        extraction=NearestAnchors(of=DIRECTIONS, size=11),
        similarity=PredictedCosine(hidden=6, tau=0.1, side="candidate"),
    )
    support = []
    for seed in range(cases):
        views, index = tiny_batch(size(seed), seed=seed)
        z = vectors_of(model.encode(views).online)
        p = [model.similarity.q(one) for one in z]
        same(model, contrast(model, views, index), reference.nnclr(z, p, support, 0.1))
        support = [*support, *z[0].detach()][-11:]
    assert model.extraction.written > 11  # the oldest were written over


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("start", ["random", "seen"])
def test_instdisc_over_all_samples(start, cases):
    model = built(
        3,
        views=Pipeline((HorizontalFlip(),), views=1),
        encoder=Headed(of=TinyEncoder(), out=5),
        extraction=Bank(samples=13, negatives="all", start=start),
        similarity=Cosine(tau=0.1),
    )
    seen = set()
    for seed in range(cases):
        views, _ = tiny_batch(size(seed), seed=seed)
        index = torch.randperm(13, generator=torch.Generator().manual_seed(seed))[: size(seed)]
        (z,) = vectors_of(model.encode(views[:1]).online)
        entries = list(model.extraction.entries[0].clone())
        for vector, sample in zip(z, index.tolist(), strict=True):
            if start == "seen" and sample not in seen:
                entries[sample] = vector.detach()
        ours = contrast(model, views[:1], index)
        if start == "random":
            same(model, ours, reference.instdisc(list(z), entries, index.tolist(), 0.1))
        for vector, sample in zip(z.detach(), index.tolist(), strict=True):  # wu et al., sec. 3.2
            keep = 0.0 if start == "seen" and sample not in seen else 0.5
            before = model.extraction.entries[0][sample]
            moved = keep * entries[sample] + (1 - keep) * vector / vector.norm()
            torch.testing.assert_close(before, moved / moved.norm(), atol=BOUND, rtol=0)
            seen.add(sample)
    assert len(seen) > 6


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("start", ["random", "seen"])
def test_pirl(start, cases):
    bank = Bank(samples=13, negatives=7, remembers="first", start=start)
    model = built(
        5,
        views=Pipeline((HorizontalFlip(),)),
        encoder=Headed(of=TinyEncoder(), out=5),
        extraction=bank,
        similarity=Cosine(tau=0.1),
    )
    inner = model.extraction
    seen = set()
    for seed in range(cases):
        views, _ = tiny_batch(size(seed), seed=seed)
        index = torch.randperm(13, generator=torch.Generator().manual_seed(seed))[: size(seed)]
        images, patches = vectors_of(model.encode(views).online)
        assert len(inner.entries) == 1
        entries = list(inner.entries[0].clone())
        drawn = inner.drawn(index).tolist()
        own = list(entries)
        for vector, sample in zip(images, index.tolist(), strict=True):
            if start == "seen" and sample not in seen:
                own[sample] = vector.detach()
        if start == "seen" and set(drawn) & set(index.tolist()) - seen:
            contrast(model, views, index)  # drawn before it was seen: a random entry
        else:
            wanted = reference.pirl(images, patches, own, index.tolist(), drawn, 0.1)
            same(model, contrast(model, views, index), wanted)
        for vector, sample in zip(images.detach(), index.tolist(), strict=True):
            keep = 0.0 if start == "seen" and sample not in seen else 0.5
            moved = keep * entries[sample] + (1 - keep) * vector / vector.norm()
            now = inner.entries[0][sample]
            torch.testing.assert_close(now, moved / moved.norm(), atol=BOUND, rtol=0)
            seen.add(sample)
    assert len(seen) > 6


def test_one_view_is_compared_with_drawn_entries():
    model = built(
        4,
        views=Pipeline((HorizontalFlip(),), views=1),
        extraction=Bank(samples=30, negatives=12),
        similarity=Cosine(tau=0.07),
    )
    views, index = tiny_batch(4)[0][:1], torch.tensor([3, 9, 28, 4])
    (compared,) = model.extraction(model.encode(views), Samples(index), ALONE)
    assert compared.remembered.vectors.shape == (12, 6)
    assert compared.candidates.shape == (4, 6)


@pytest.mark.parametrize("cases", CASES)
def test_supcon(cases):
    model = built(
        5,
        encoder=Headed(of=TinyEncoder(), out=5, hidden=7),
        extraction=ByLabel(),
        similarity=Cosine(tau=0.1),
        loss=NCE(denominator="all"),
    )
    for seed in range(cases):
        views, index = tiny_batch(size(seed), seed=seed)
        labels = torch.randint(2, index.shape, generator=torch.Generator().manual_seed(seed))
        z = torch.cat(vectors_of(model.encode(views).online))
        ours = contrast(model, views, Samples(index, labels))
        same(model, ours, reference.supcon(list(z), labels.repeat(2).tolist(), 0.1))


@pytest.mark.parametrize("cases", CASES)
def test_simclrts(cases):
    settings = {"lowest": 0.1, "highest": 1.0, "cycles": 3.0}
    model = built(6, similarity=CyclicTau(of=Cosine(tau=1.0), **settings))
    found = set()
    for seed in range(cases):
        views, index = tiny_batch(size(seed), seed=seed)
        first, second = vectors_of(model.encode(views).online)
        progress = seed / cases
        ours = contrast(model, views, Samples(index, progress=progress))
        theirs = reference.simclrts(list(first), list(second), progress, **settings)
        same(model, ours, theirs)
        found.add(round(model.similarity.settings.tau_at(progress), 6))
    assert len(found) > 3
