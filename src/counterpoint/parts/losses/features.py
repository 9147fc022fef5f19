"""What losses on features share: vectors as they are, two views, statistics over all ranks.

These losses are outside of the paper's frame. They compare features over the batch instead of
images with each other: no anchor is scored against a candidate, and part (4) has nothing to do.
"""

from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import PartError, Scores, World

Rows = Float[Tensor, "row feature"]
Square = Float[Tensor, "feature feature"]


def needs_plain_vectors(bound: float | None) -> None:
    """Refuse a similarity that changes the vectors before the loss sees them.

    >>> needs_plain_vectors(2.0)
    Traceback (most recent call last):
    counterpoint.framework.errors.PartError: loss: got scores with |s| <= 2.0, needs the vectors ...
    """
    if bound is not None:
        raise PartError(
            "loss",
            got=f"scores with |s| <= {bound}",
            needs="the vectors as they are: it looks at features, not at scores",
            do="use similarity=Dot(), and put a head into the encoder by Headed",
        )


def two_views(scores: Scores) -> tuple[Rows, Rows]:
    """Return this rank's vectors of both views, row i being the same image in both."""
    views = scores.anchors_by_view()
    if len(views) != 2:
        raise PartError("loss", got=f"{len(views)} views", needs="two, which it compares")
    return views[0], views[1]


def centre(rows: Rows, count: int, world: World) -> Rows:
    """Take off the mean of each feature over the `count` images of all ranks.

    >>> import torch
    >>> from counterpoint.framework import ALONE
    >>> centre(torch.tensor([[1.0, 4.0], [3.0, 8.0]]), 2, ALONE)
    tensor([[-1., -2.],
            [ 1.,  2.]])
    """
    return rows - world.sum(rows.sum(dim=0)) / count


def squares_beside_diagonal(matrix: Square) -> Float[Tensor, ""]:
    """Sum the squares of all entries that are not on the diagonal.

    >>> import torch
    >>> squares_beside_diagonal(torch.tensor([[9.0, 1.0], [2.0, 9.0]]))
    tensor(5.)
    """
    # Not the difference of two sums: near the optimum it would lose all of its digits.
    return (matrix - matrix.diagonal().diag()).square().sum()
