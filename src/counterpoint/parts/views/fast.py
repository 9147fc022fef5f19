"""How a batch is worked on, by where it is."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import torch
from torch import Tensor


def all_at_once(batch: Tensor) -> bool:
    """Tell whether all images take all ways together, and each keeps what it chose.

    On a device, where an operator costs a launch and a question makes the host wait.
    """
    return batch.device.type != "cpu"


def compiled_for(images: Tensor) -> ModuleType | None:
    """Return the kernels compiled by numba, if it is installed and the images are on the CPU."""
    fit = images.device.type == "cpu" and images.dtype == torch.float32 and images.is_contiguous()
    return _kernels() if fit else None


@cache
def _kernels() -> ModuleType | None:
    if find_spec("numba") is None:
        return None
    return import_module("counterpoint.parts.views.compiled")
