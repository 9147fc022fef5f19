"""Small fixed tensors, made once for each device."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor


def constant(
    values: tuple[float, ...],
    dtype: torch.dtype,
    device: torch.device,
    *,
    shape: tuple[int, ...] = (-1,),
) -> Shaped[Tensor, "..."]:
    """Return fixed numbers as a tensor; it is shared, so it is not to be changed.

    >>> constant((1, 2), torch.float32, torch.device("cpu"))
    tensor([1., 2.])
    """
    return fixed(_numbers, (values, dtype, shape), device)


def fixed(
    make: Callable[..., Tensor], settings: tuple[Any, ...], device: torch.device
) -> Shaped[Tensor, "..."]:
    """Return what a function makes of its settings on the CPU, moved to a device and kept there.

    The host does not wait for the copy.
    """
    return _both(make, settings, device, torch.get_default_dtype())[1]


@lru_cache(maxsize=1024)
def _both(
    make: Callable[..., Tensor],
    settings: tuple[Any, ...],
    device: torch.device,
    precision: torch.dtype,  # noqa: ARG001 (what is made may depend on it, so it is kept by it)
) -> tuple[Tensor, Tensor]:
    """Keep the source too: MPS reads it later than it says (pytorch issue 189690)."""
    with torch.inference_mode(mode=False), torch.device("cpu"):
        made = make(*settings)
        return made, made.to(device, non_blocking=True)


def _numbers(values: tuple[float, ...], dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    return torch.tensor(values, dtype=dtype).view(shape)
