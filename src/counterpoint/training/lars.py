"""LARS: a rate for every weight, by its length and that of its gradient (You et al. 2017)."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD


class Lars(SGD):
    r"""SGD with momentum, behind a scaling of each weight's gradient.

    $$ g \leftarrow r (g + \lambda w), \quad
       r = c \, \|w\| / (\|g\| + \lambda \|w\| + \epsilon) $$

    in the groups that have `adapt`; r is 1 where a weight or its gradient is zero. What follows
    is torch's fused SGD, which leaves everything as it is when `found_inf` says so. Gradients that
    a `GradScaler` has scaled are divided by its scale first.

    >>> weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    >>> weight.grad = torch.tensor([0.0, 10.0])
    >>> Lars([{"params": [weight], "adapt": True}], lr=1.0, trust=0.1).step()
    >>> weight.data  # moved by 0.1 of its length of 5, against the gradient
    tensor([3.0000, 3.5000])
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        *,
        lr: float,
        momentum: float = 0.0,
        nesterov: bool = False,
        trust: float = 1e-3,  # google-research/simclr, lars_optimizer.py, eeta
        eps: float = 1e-8,
    ) -> None:
        self.trust, self.eps = trust, eps
        self.lengths: Callable[[Sequence[Tensor]], Tensor] = lengths
        """Measures weights and gradients; of sharded ones, over the ranks."""
        super().__init__(groups, lr=lr, momentum=momentum, nesterov=nesterov, fused=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # torch has no hints there
        for group in self.param_groups:  # checkpoints of earlier versions had other names
            group["fused"] = True
            group.setdefault("adapt", group.get("always_adapt", group["weight_decay"] > 0))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        decays = [group["weight_decay"] for group in self.param_groups]
        self._unscale()
        for group in self.param_groups:
            if group["adapt"]:
                self._adapt(group)
                group["weight_decay"] = 0.0  # it is in the gradient now
        super().step()
        for group, decay in zip(self.param_groups, decays, strict=True):
            group["weight_decay"] = decay
        return loss

    @torch.no_grad()
    def _unscale(self) -> None:
        """Divide gradients by the scale of their losses, where a scaler leaves that to us."""
        scale: Tensor | None = getattr(self, "grad_scale", None)
        if scale is None:
            return
        weights = [p for group in self.param_groups for p in group["params"]]
        torch._foreach_div_([p.grad for p in weights if p.grad is not None], scale)
        self.grad_scale = None  # so that the fused step does not do it again

    @torch.no_grad()
    def _adapt(self, group: dict[str, Any]) -> None:
        weights = [p for p in group["params"] if p.grad is not None]
        if not weights:
            return
        gradients, decay = [p.grad for p in weights], group["weight_decay"]
        long, steep = self.lengths([*weights, *gradients]).chunk(2)
        ratio: Tensor = self.trust * long / (steep + decay * long + self.eps)
        ratio = torch.where((long > 0) & (steep > 0), ratio, 1.0)
        if decay:
            torch._foreach_add_(gradients, weights, alpha=decay)
        torch._foreach_mul_(gradients, list(ratio.unbind()))


def lengths(tensors: Sequence[Tensor]) -> Tensor:
    """Return the length of each tensor.

    >>> lengths([torch.tensor([3.0, 4.0]), torch.zeros(2)])
    tensor([5., 0.])
    """
    return torch.stack(torch._foreach_norm(list(tensors)))
