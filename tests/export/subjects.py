"""Runs to export: a method with an encoder, untrained but with statistics as if it were."""

import torch
from torch import nn

from counterpoint import simclr
from counterpoint.framework.settings import Training
from counterpoint.methods import method_named
from counterpoint.run import Run


def run_with(encoder=None, *, size=64, method="simclr", folder=None):
    """A run whose batch norms and biases are not those that a network starts with."""
    composed = (
        method_named(method, encoder=encoder, size=size)
        if isinstance(encoder, str | None)
        else simclr(encoder, size=size)
    )
    torch.manual_seed(0)
    model = composed.build(image=(3, size, size))
    disturb(model)
    return Run(folder, composed, model, (3, size, size), Training())


@torch.no_grad()
def disturb(model):
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1, generator=generator)
            module.running_var.uniform_(0.5, 1.5, generator=generator)
        if isinstance(module, nn.LayerNorm):
            module.weight.uniform_(0.5, 1.5, generator=generator)
            module.bias.normal_(0, 0.3, generator=generator)
