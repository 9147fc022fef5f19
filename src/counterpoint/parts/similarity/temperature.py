"""The temperature of a similarity, given or learned."""

from typing import Any

import torch
from torch import Tensor, nn


class Temperature(nn.Module):
    """1 / tau, a constant or a weight (as log tau, so that it stays positive).

    >>> Temperature(0.5)(), round(Temperature(0.5, learn=True)().item(), 6)
    (2.0, 2.0)
    """

    def __init__(self, tau: float, *, learn: bool = False) -> None:
        super().__init__()
        self.tau = tau
        # Of one number in a row: a weight without dimensions cannot be shared out over ranks.
        self.log_tau = nn.Parameter(torch.tensor([tau]).log()) if learn else None

    def forward(self) -> Tensor | float:
        return 1 / self.tau if self.log_tau is None else torch.exp(-self.log_tau[0])

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Read a temperature of an earlier version too, which had no dimension."""
        name = f"{prefix}log_tau"
        if name in state_dict:
            state_dict[name] = state_dict[name].reshape(-1)
        super()._load_from_state_dict(state_dict, prefix, *rest)
