"""Where a model is evaluated: on an accelerator if there is one."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def best_device() -> torch.device:
    """Return the accelerator of this machine, or the CPU."""
    if torch.accelerator.is_available():
        found = torch.accelerator.current_accelerator()
        assert found is not None
        return found
    return torch.device("cpu")


def device_of(model: nn.Module) -> torch.device:
    """Say where a model is; one without weights is on the CPU.

    >>> device_of(nn.Identity())
    device(type='cpu')
    """
    return next((p.device for p in model.parameters()), torch.device("cpu"))


def dtype_of(model: nn.Module) -> torch.dtype:
    """Say in which precision the weights of a model are; one without weights takes fp32.

    >>> dtype_of(nn.Linear(2, 2).double())
    torch.float64
    """
    floating = (p.dtype for p in model.parameters() if p.is_floating_point())
    return next(floating, torch.float32)


@contextmanager
def on_device(model: nn.Module, asked: str | torch.device | None) -> Iterator[None]:
    """Move a model to a device for a while; None is an accelerator, or where the model is.

    >>> with on_device(nn.Linear(2, 2), "cpu"):
    ...     pass
    """
    before = device_of(model)
    if asked is not None:
        _move(model, asked)
    elif before.type == "cpu":
        model.to(best_device())
    try:
        yield
    finally:
        model.to(before)


def _move(model: nn.Module, asked: str | torch.device) -> None:
    try:
        model.to(torch.device(asked))
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, AssertionError) as error:  # an assertion where torch has no CUDA
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device: got {str(asked)!r}; needs one that is here, such as cpu ({reason})"
        ) from None
