"""Use 13: SimSiam, by a head of three layers and an extraction that stops gradients."""

import torch

from counterpoint import Headed, Pooled, PredictedCosine, Regression, contrast, simclr
from counterpoint.parts.extraction import StopGradient


def simsiam(encoder, width=32):
    head = Headed(of=encoder, hidden=(width, width), out=width, norm=True, last_norm="plain")
    return simclr(head).swap(
        extraction=StopGradient(of=Pooled()),
        similarity=PredictedCosine(hidden=width // 4),
        loss=Regression(),
    )


def test_it_trains(small, train):
    run = train(simsiam(small))
    assert len(run.encoder.head) == 8, "three linear layers, three norms, two activations"


def test_it_is_the_authors_loss(small, cifar):
    torch.manual_seed(0)
    model = simsiam(small).build(image=(3, 32, 32)).double()
    views = tuple(torch.randn(2, 8, 3, 32, 32, dtype=torch.float64))
    loss = contrast(model, views, torch.arange(8))
    z0, z1 = (maps[-1].flatten(1) for maps in model.encoder(views))
    p0, p1 = model.similarity.p[0](torch.cat([z0, z1])).chunk(2)
    cosine = torch.nn.functional.cosine_similarity
    wanted = -(cosine(p0, z1.detach()).mean() + cosine(p1, z0.detach()).mean()) / 2
    assert abs(loss - (2 + 2 * wanted)) < 1e-12
