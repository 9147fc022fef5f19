"""Autocast for the pretend accelerator: torch's own lists, read from the header it ships with."""

import re
from functools import partial
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves, tree_map

HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
KEY = "AutocastPrivateUse1"


def operators(name):
    """Read one of the header's lists of operators."""
    text = HEADER.read_text()
    block = re.search(rf"#define {name}\(_\)((?:.*\\\n)*.*\n)", text)
    assert block, f"{HEADER} has no list {name}"
    for base, overload in re.findall(r"_\((\w+)(?:, (\w+))?\)", block[1]):
        packet = getattr(torch.ops.aten, base)
        yield getattr(packet, overload or "default", None)


def register(device):
    """Return every listed operator the cast that autocast makes on a GPU."""
    everything = torch.library.Library("_", "IMPL", KEY)
    everything.fallback(torch.library.fallthrough_kernel)
    aten = torch.library.Library("aten", "IMPL", KEY)
    for name, kernel in (
        ("AT_FORALL_LOWER_PRECISION_FP", _lower),
        ("AT_FORALL_FP32", _fp32),
        ("AT_FORALL_FP32_SET_OPT_DTYPE", _fp32_result),
        ("AT_FORALL_PROMOTE", _widest),
    ):
        for op in operators(name):
            if op is not None:
                aten.impl(op, partial(kernel, op, device))
    return everything, aten


def _below():
    return torch._C._ExcludeDispatchKeyGuard(
        torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, KEY))
    )


def _castable(value, device):
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.device.type == device
        and value.dtype != torch.float64
    )


def _cast(op, device, dtype, args, kwargs):
    def to(value):
        return value.to(dtype) if _castable(value, device) else value

    return op(*tree_map(to, args), **tree_map(to, kwargs))


def _lower(op, device, *args, **kwargs):
    with _below():
        return _cast(op, device, torch.get_autocast_dtype(device), args, kwargs)


def _fp32(op, device, *args, **kwargs):
    with _below():
        return _cast(op, device, torch.float32, args, kwargs)


def _fp32_result(op, device, *args, **kwargs):
    with _below():
        names = [argument.name for argument in op._schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        if _castable(args[0], device) and given.get("dtype") is None:
            given["dtype"] = torch.float32
        return op(**given)


def _widest(op, device, *args, **kwargs):
    kinds = [x.dtype for x in tree_leaves((args, kwargs)) if _castable(x, device)]
    wide = torch.float32 if torch.float32 in kinds else torch.get_autocast_dtype(device)
    with _below():
        return _cast(op, device, wide, args, kwargs) if kinds else op(*args, **kwargs)
