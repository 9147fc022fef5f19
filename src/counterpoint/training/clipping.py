"""Gradient clipping with optimisers that are fused."""

import lightning as L
import torch
from lightning.pytorch.plugins.precision import MixedPrecision, Precision
from lightning.pytorch.utilities import GradClipAlgorithmType


def clip(
    module: L.LightningModule,
    optimizer: torch.optim.Optimizer,
    value: float | None,
    algorithm: str | None,
) -> None:
    """Clip gradients as the Trainer asks, also in bf16.

    Under mixed precision Lightning refuses fused optimisers, since those may still have to divide
    gradients by the scale of the losses. bf16 has no such scale.
    """
    plugin = module.trainer.precision_plugin
    if not isinstance(plugin, MixedPrecision) or plugin.scaler is not None:
        module.clip_gradients(optimizer, value, algorithm)
    else:
        kind = GradClipAlgorithmType(algorithm or "norm")
        Precision.clip_gradients(plugin, optimizer, value or 0.0, kind)
