"""Rows of a buffer that new ones are written over, the oldest first."""

from jaxtyping import Float
from torch import Tensor


def write_over(
    rows: Float[Tensor, "size channel"], newest: Float[Tensor, "new channel"], written: int
) -> None:
    """Write vectors over the oldest rows, in place; `written` is how many came before.

    >>> import torch
    >>> rows = torch.zeros(3, 1)
    >>> write_over(rows, torch.tensor([[1.0], [2.0]]), written=2)
    >>> rows.T
    tensor([[2., 0., 1.]])
    """
    start = written % len(rows)
    room = min(len(newest), len(rows) - start)
    rows[start : start + room] = newest[:room]
    rows[: len(newest) - room] = newest[room:]
