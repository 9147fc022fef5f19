"""A tensor of the pretend accelerator: its values are those of a CPU tensor inside."""

from contextlib import nullcontext

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from accelerator import rules
from accelerator.seen import Seen

NAME = "pretend"
aten = torch.ops.aten


class State:
    """The profile that is switched on, and what it has seen."""

    profile: str | None = None
    seen = Seen()


class Pretend(Tensor):
    """Says that it is on the device; `values` holds what it would hold there."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, values, requires_grad=False):
        if State.profile == "mps" and values.dtype in rules.FLOAT64:
            raise rules.LackingError(f"at {rules.line()}: MPS has no {values.dtype}")
        made = Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            layout=values.layout,
            device=torch.device(NAME, 0),
            requires_grad=requires_grad,
        )
        made.values = values.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        return run(op, *args, **(kwargs or {}))

    def __repr__(self):
        return f"Pretend({tuple(self.shape)}, {self.dtype})"

    def __format__(self, spec):
        return format(self.item(), spec) if self.dim() == 0 else repr(self)

    def tolist(self):
        return self.cpu().tolist()

    def numpy(self, *, force=False):
        if not force:
            raise TypeError(f"can't convert {self.device} tensor to numpy: use Tensor.cpu() first")
        return self.detach().cpu().numpy()

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        made = torch.tensor(data, dtype=dtype or self.dtype)
        return made.to(self.device if device is None else device).requires_grad_(requires_grad)

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, other):
        Tensor.data.__set__(self, other)
        self.values = other.values


def is_here(value):
    return isinstance(value, Pretend)


def run(op, *args, **kwargs):
    """Check an operator by the device's rules, count it, and run it on the values inside."""
    leaves = tree_leaves((args, kwargs))
    here = [x for x in leaves if is_here(x)]
    if here and op._can_decompose() and _composite(op):
        return op.decompose(*args, **kwargs)  # inference mode: above autograd, not taken apart yet
    if State.profile is None:
        raise RuntimeError(f"{op}: the pretend accelerator is switched off")
    there = [x for x in leaves if isinstance(x, Tensor) and not is_here(x)]
    copies = op in (aten._to_copy.default, aten.copy_.default, aten.copy.default)
    if not copies:
        generators = [x for x in leaves if isinstance(x, torch.Generator)]
        rules.refuse_mix(op, args, here, there, generators)
    rules.refuse_lacking(op, here)
    wanted = kwargs.get("device")
    on_device = bool(here) if wanted is None else torch.device(wanted).type == NAME
    if op is aten.copy_.default:
        on_device = is_here(args[0])
    _count(op, args, kwargs, here, crosses=copies and _crosses(op, args, on_device))
    result = op(*tree_map(_inside, args), **tree_map(_inside, _unpinned(kwargs)))
    if op is aten.fill_.Scalar:
        args[0].filled = True
    return _outside(result, here, on_device=on_device, view=bool(here) and _view(op))


def _composite(op):
    return op.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)


def _crosses(op, args, on_device):
    source = args[0] if op is aten._to_copy.default else args[1]
    return is_here(source) != on_device


def _count(op, args, kwargs, here, *, crosses):
    seen = State.seen
    if crosses:
        seen.operator(kernel=True)
        if not (kwargs.get("non_blocking") or args[2:3] == (True,)):
            to_host = op is aten._to_copy.default or not is_here(args[0])
            seen.wait("copy to the host" if to_host else "copy from the host")
        return
    seen.operator(kernel=not _view(op))
    wait = rules.wait_of(op, args, kwargs, here, is_here)
    if wait:
        seen.wait(wait)


def _view(op):
    """Tell whether an operator only looks at its argument's memory in another way."""
    if op in (aten.empty.memory_format, aten.empty_strided.default, aten.empty_like.default):
        return True
    aliases = [r.alias_info for r in op._schema.returns]
    return bool(aliases) and all(a is not None and not a.is_write for a in aliases)


def _inside(value):
    if is_here(value):
        return value.values
    if isinstance(value, torch.device) and value.type == NAME:
        return torch.device("cpu")
    return value


def _unpinned(kwargs):
    return {**kwargs, "pin_memory": False} if kwargs.get("pin_memory") else kwargs


def _outside(result, here, *, on_device, view):
    known = {id(x.values): x for x in here}
    for x in here:
        if x.shape != x.values.shape or x.stride() != x.values.stride():  # out= or in place
            Tensor.data.__set__(x, Pretend(x.values))

    def wrap(value):
        if not isinstance(value, Tensor):
            return value
        if id(value) in known:
            return known[id(value)]
        return Pretend(value) if on_device else value

    # In inference mode a view of a tensor from outside of it is such a tensor too.
    outside = view and torch.is_inference_mode_enabled() and not here[0].is_inference()
    with torch.inference_mode(False) if outside else nullcontext():
        return tree_map(wrap, result)
