"""Use 8: fine-tune in a loop of one's own."""

import torch
from torch import nn
from torchvision.transforms.functional import to_pil_image

from counterpoint import simclr


def test_fine_tune_with_a_head_of_ones_own(small, train, cifar):
    run = train(simclr(small))
    encoder = run.pooled_encoder()
    network = nn.Sequential(encoder, nn.Linear(encoder.width, 10))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    (view,) = run.transform(cifar.train.images[:32])  # normalised as the encoder was trained
    labels, losses = cifar.train.labels[:32], []
    for _ in range(5):
        loss = nn.functional.cross_entropy(network(view), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_the_transform_and_the_encoder_are_what_embed_does(small, train, cifar):
    run, images = train(simclr(small)), cifar.test.images[:3]
    views = [run.transform(to_pil_image(image))[0] for image in images]
    with torch.no_grad():
        vectors = run.pooled_encoder().eval()(torch.stack(views))
    assert torch.allclose(vectors, run.embed(images), atol=1e-6)
