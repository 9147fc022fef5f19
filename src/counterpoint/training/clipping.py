"""Gradient clipping with optimisers that are fused."""

from collections.abc import Mapping, Sequence
from typing import Any

import lightning as L
import torch
from lightning.pytorch.plugins.precision import MixedPrecision, Precision
from lightning.pytorch.utilities import GradClipAlgorithmType
from torch import Tensor

from counterpoint.framework.local_rows import is_sharded, local_rows
from counterpoint.training.fsdp.row_lengths import lengths_over_ranks


def clipping_identity(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the Trainer was asked to clip gradients; a run resumes with the same only.

    >>> clipping_identity({"gradient_clip_val": 1})
    {'gradient_clip_val': 1.0, 'gradient_clip_algorithm': 'norm'}
    >>> clipping_identity({})
    {'gradient_clip_val': None, 'gradient_clip_algorithm': None}
    """
    value: Any = asked.get("gradient_clip_val")
    kind = asked.get("gradient_clip_algorithm") or "norm"
    clips = isinstance(value, int | float) and value > 0  # the Trainer refuses the rest
    return {
        "gradient_clip_val": float(value) if clips else None,
        "gradient_clip_algorithm": str(getattr(kind, "value", kind)).lower() if clips else None,
    }


def clip(
    module: L.LightningModule,
    optimizer: torch.optim.Optimizer,
    value: float | None,
    algorithm: str | None,
) -> None:
    """Clip gradients as the Trainer asks, also in mixed precision.

    There Lightning refuses fused optimisers, since those may still have to divide gradients by the
    scale of the losses. bf16 has no such scale; in fp16 they are divided here. Sharded gradients
    have the length of all their rows.
    """
    weights = [w for group in optimizer.param_groups for w in group["params"]]
    gradients = [w.grad for w in weights if w.grad is not None]
    if value and any(is_sharded(gradient) for gradient in gradients):
        _clip_rows(gradients, value, by_norm=algorithm in (None, "norm"))
        return
    plugin = module.trainer.precision_plugin
    if not isinstance(plugin, MixedPrecision):
        module.clip_gradients(optimizer, value, algorithm)
        return
    if value and plugin.scaler is not None and _unscales(optimizer):
        plugin.scaler.unscale_(optimizer)
    kind = GradClipAlgorithmType(algorithm or "norm")
    Precision.clip_gradients(plugin, optimizer, value or 0.0, kind)


def _unscales(optimiser: torch.optim.Optimizer) -> bool:
    """Tell whether an optimiser divides by the scale in its step; Lightning does for all others."""
    return bool(getattr(optimiser, "_step_supports_amp_scaling", False))


@torch.no_grad()
def _clip_rows(gradients: Sequence[Tensor], value: float, *, by_norm: bool) -> None:
    """Clip this rank's rows of the gradients as torch clips whole ones."""
    rows = local_rows(gradients)
    if by_norm:
        length = lengths_over_ranks(gradients).norm()
        torch._foreach_mul_(rows, (value / (length + 1e-6)).clamp(max=1.0))
    else:
        torch._foreach_clamp_min_(rows, -value)
        torch._foreach_clamp_max_(rows, value)
