"""Tensors that are made once do not remember in which precision they were first asked for."""

import torch

from counterpoint.framework.constants import fixed


def thirds(count):
    return torch.arange(count) / 3


def test_what_is_kept_follows_the_default_precision():
    """A look at health runs in fp32 inside of a run with `--precision 64-true`."""
    cpu = torch.device("cpu")
    narrow = fixed(thirds, (4,), cpu)
    torch.set_default_dtype(torch.float64)
    try:
        wide = fixed(thirds, (4,), cpu)
    finally:
        torch.set_default_dtype(torch.float32)
    assert (narrow.dtype, wide.dtype) == (torch.float32, torch.float64)
    assert fixed(thirds, (4,), cpu) is narrow
