"""Where half precision ends: views, scores, losses and batch statistics are fp32 at least."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from counterpoint.framework.settings import Precision


def at_least_fp32(vectors: Tensor) -> Tensor:
    """Widen half precision; scores are summed in fp32 at least, also under autocast.

    >>> at_least_fp32(torch.zeros(1, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    return vectors if vectors.dtype == torch.float64 else vectors.float()


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Compute in the precision of the tensors themselves, whatever autocast is on outside.

    >>> x = torch.eye(2)
    >>> with torch.autocast("cpu", torch.bfloat16), without_autocast(x.device):
    ...     (x @ x).dtype
    torch.float32
    """
    if not torch.amp.is_autocast_available(device.type):  # the meta device of the dry run
        return nullcontext()
    return torch.autocast(device.type, enabled=False)


@contextmanager
def in_precision(precision: Precision, device: torch.device) -> Iterator[None]:
    """Train a step in a precision as Lightning does, for who trains without it.

    >>> with in_precision("64-true", torch.device("cpu")):
    ...     torch.zeros(1).dtype
    torch.float64
    """
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if precision == "64-true" else torch.float32)
    try:
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16-mixed"):
            yield
    finally:
        torch.set_default_dtype(default)


@contextmanager
def full_fp32(device: torch.device) -> Iterator[None]:
    """Compute without autocast, and matrix products of fp32 neither in TF32 nor in bf16.

    The second is what `torch.set_float32_matmul_precision("medium")` asks for; Lightning
    suggests it on GPUs, and CPUs with bf16 units follow it too. New tensors are fp32 as well, where
    Lightning makes others the default ("bf16-true", "64-true").
    """
    mkldnn: Any = torch.backends.mkldnn  # torch 2.14's hints do not have its matmul
    products = torch.backends.cuda.matmul, mkldnn.matmul
    before = [product.fp32_precision for product in products]
    default = torch.get_default_dtype()
    for product in products:
        product.fp32_precision = "ieee"
    torch.set_default_dtype(torch.float32)
    try:
        with without_autocast(device):
            yield
    finally:
        torch.set_default_dtype(default)
        for product, precision in zip(products, before, strict=True):
            product.fp32_precision = precision
