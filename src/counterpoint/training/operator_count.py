"""What operators do, counted while they run: operations, bytes that they touch, memory that lives.

Run on the meta device it costs nothing whatever the size, and needs neither data nor a GPU.
"""

import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

Kind = Literal["convolution", "convolution backward", "product", "memory", "in place"]
"""What makes new memory, and what writes into memory that is there, differ on a CPU."""

aten = torch.ops.aten
CONVOLUTIONS = (aten.convolution, aten._convolution)
VIEWS = (aten.view, aten._unsafe_view, aten.detach, aten.alias, aten.empty, aten.empty_like)
"""What touches no memory although torch does not say that it gives a view."""
NORMS = (aten.native_batch_norm, aten._native_batch_norm_legit, aten.native_batch_norm_backward)
"""Read their input twice: once for the statistics, once to use them."""


class Work(NamedTuple):
    """What one operator does."""

    kind: Kind
    flops: float
    bytes: float
    """Of its inputs and outputs: what comes from memory and goes there."""


@dataclass
class OperatorCount(TorchDispatchMode):
    """Count every operator inside of `with`, and the memory of what it makes.

    >>> with torch.device("meta"):
    ...     a, b = torch.empty(8, 16), torch.empty(16, 4)
    >>> with OperatorCount() as count:
    ...     c = (a @ b).relu()
    >>> count.work
    Counter({Work(kind='product', flops=1024.0, bytes=896.0): 1, ...bytes=256.0): 1})
    >>> count.living, count.peak
    (128, 256)
    """

    work: Counter[Work] = field(default_factory=Counter)
    living: int = 0
    """Bytes of what was made and still lives."""
    peak: int = 0

    def __post_init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no hints here
        self._made: dict[int, int] = {}

    def __torch_dispatch__(
        self,
        operator: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        given = _tensors((args, named))
        result = operator(*args, **named)
        made = _tensors(result)
        if any(tensor.is_meta or tensor.requires_grad for tensor in (*given, *made)):
            self._count(operator, args, named, result, given, made)
        return result

    def _count(
        self,
        operator: Any,
        args: tuple[Any, ...],
        named: dict[str, Any],
        result: Any,
        given: list[Tensor],
        made: list[Tensor],
    ) -> None:
        packet = operator._overloadpacket
        for tensor in made:
            self._keep(tensor)
        if operator.is_view or packet in VIEWS:
            return
        counted = flop_registry.get(packet)
        flops = 0.0 if counted is None else float(counted(*args, **named, out_val=result))
        touched = sum(_bytes(tensor) for tensor in (*given, *made))
        if packet in NORMS:
            touched += _bytes(given[0]) * (2 if packet is aten.native_batch_norm_backward else 1)
        kind: Kind = "in place" if operator._schema.is_mutable else "memory"
        if flops:
            kind = _kind(packet)
        self.work[Work(kind, flops, float(touched))] += 1

    def _keep(self, tensor: Tensor) -> None:
        """Add what a tensor holds, until nobody holds the tensor any more."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if not tensor.is_meta or key in self._made:
            return
        self._made[key] = storage.nbytes()
        self.living += self._made[key]
        self.peak = max(self.peak, self.living)
        weakref.finalize(storage, self._drop, key)

    def _drop(self, key: int) -> None:
        self.living -= self._made.pop(key, 0)

    def known(self, tensors: Any) -> None:
        """Leave out the memory of what was there before: weights, say."""
        for tensor in tensors:
            self._made[tensor.untyped_storage()._cdata] = 0


def _kind(packet: Any) -> Kind:
    if packet is aten.convolution_backward:
        return "convolution backward"
    return "convolution" if packet in CONVOLUTIONS else "product"


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
