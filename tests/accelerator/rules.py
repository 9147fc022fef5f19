"""What an accelerator refuses, and what makes the host wait for it."""

import torch
from torch import Tensor

from accelerator.seen import line

aten = torch.ops.aten
FLOAT64 = (torch.float64, torch.complex128)


class MixUpError(RuntimeError):
    """Tensors of two devices in one operator."""


class LackingError(NotImplementedError):
    """An operator or type that the real device does not have."""


# Indices may come from the host: torch copies them over, and the host waits for the copy.
INDEXING = {
    aten.index.Tensor,
    aten._unsafe_index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
    aten._unsafe_index_put.default,
}
# Not tagged as pointwise, but CUDA takes a number of the host here too.
NUMBERS = {
    *(aten.where.self, aten.masked_fill.Tensor, aten.masked_fill_.Tensor),
    *(aten.fill.Tensor, aten.fill_.Tensor, aten.copy.default, aten.copy_.default),
}
# The shape or the answer depends on values, so the host has to know them.
# The eigenvalues' and singular values' error codes are read by the host (check_errors).
WAITS = {
    aten._local_scalar_dense.default: "item",
    aten.equal.default: "equal",
    aten.nonzero.default: "nonzero",
    aten.masked_select.default: "masked_select",
    aten.bincount.default: "bincount",
    aten._unique.default: "unique",
    aten._unique2.default: "unique",
    aten.unique_dim.default: "unique",
    aten.unique_consecutive.default: "unique",
    aten.unique_dim_consecutive.default: "unique",
    aten._linalg_eigh.default: "eigh",
    aten._linalg_svd.default: "svd",
    aten.linalg_eig.default: "eig",
    aten._linalg_solve_ex.default: "solve",
}
# UpSampleBilinear2d.cu and UpSampleBicubic2d.cu are compiled for floating point only.
RESIZES = {aten._upsample_bilinear2d_aa.default, aten._upsample_bicubic2d_aa.default}
# cuBLAS has no product of integer matrices: "addmm_cuda" not implemented for 'Long'.
PRODUCTS = {
    *(aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default),
    *(aten.mv.default, aten.addmv.default, aten.dot.default),
}


def refuse_mix(op, args, here, there, generators):
    """Raise where CUDA raises: "Expected all tensors to be on the same device"."""
    if not here:
        return
    if any(generator.device.type == "cpu" for generator in generators):
        raise MixUpError(f"{op} at {line()}: a generator of the host draws on the device")
    values = there
    if op in INDEXING:
        indices = {id(x) for x in args[1] if x is not None}
        values = [x for x in there if id(x) not in indices]
    number = torch.Tag.pointwise in op.tags or op in NUMBERS or op in INDEXING
    number = number or str(op).startswith("aten._foreach_")
    wrong = [x for x in values if x.dim() > 0 or not number or x is target(op, args)]
    if wrong:
        shapes = [tuple(x.shape) for x in wrong]
        raise MixUpError(f"{op} at {line()}: {shapes} on the host, the rest on the device")


def target(op, args):
    """Return the tensor that an operator writes into, if it is the first argument."""
    first = op._schema.arguments[0] if op._schema.arguments else None
    writes = first is not None and first.alias_info is not None and first.alias_info.is_write
    return args[0] if writes and args else None


def refuse_lacking(op, here):
    """Raise where the device has no such kernel."""
    if op in RESIZES and here and not here[0].is_floating_point():
        raise LackingError(f"{op} at {line()}: not implemented for {here[0].dtype}")
    if op in PRODUCTS and here and not (here[0].is_floating_point() or here[0].is_complex()):
        raise LackingError(f"{op} at {line()}: not implemented for {here[0].dtype}")


def wait_of(op, args, kwargs, here, is_here):
    """Name the host's wait that an operator causes, or give None."""
    if not here:
        return None
    if op in WAITS:
        return WAITS[op]
    if op is aten.repeat_interleave.Tensor:
        return "repeat_interleave" if kwargs.get("output_size") is None else None
    if op in INDEXING:
        return _indexing(op, args, is_here)
    return None


def _indexing(op, args, is_here):
    indices = [x for x in args[1] if isinstance(x, Tensor)]
    if any(not is_here(x) for x in indices):
        return "index from the host"
    if not any(x.dtype in (torch.bool, torch.uint8) for x in indices):
        return None
    # x[mask] = 0.0 becomes masked_fill, which does not wait.
    number = len(args) > 2 and args[2].dim() == 0 and getattr(args[2], "filled", False)
    return None if number and not (len(args) > 3 and args[3]) else "boolean index"
