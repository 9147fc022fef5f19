"""GPUs divided into nodes: a launcher needs the same number of GPUs in each node."""


def equal_nodes(gpus: int, node: int) -> tuple[int, int]:
    """Return how many nodes GPUs take, and how many GPUs each has: the same, and at least half.

    >>> equal_nodes(64, node=8), equal_nodes(12, node=8), equal_nodes(3, node=8)
    ((8, 8), (2, 6), (1, 3))
    >>> equal_nodes(17, node=8)
    Traceback (most recent call last):
    ValueError: plan: 17 GPUs do not divide into nodes of 8 with the same number in each ...
    """
    each = _each(gpus, node)
    if each is None:
        fewer = next(n for n in range(gpus - 1, 0, -1) if _each(n, node))
        more = next(n for n in range(gpus + 1, gpus + node + 1) if _each(n, node))
        raise ValueError(
            f"plan: {gpus} GPUs do not divide into nodes of {node} with the same number in each "
            f"and at least half of it used; take {fewer} or {more}"
        )
    return gpus // each, each


def divide(gpus: int, node: int) -> bool:
    """Return whether GPUs divide into nodes so.

    >>> divide(18, node=8), divide(17, node=8)
    (True, False)
    """
    return _each(gpus, node) is not None


def _each(gpus: int, node: int) -> int | None:
    """Return the most GPUs that every node can have; None where that is less than half."""
    if gpus <= node:
        return gpus
    most = max(n for n in range(1, node + 1) if gpus % n == 0)
    return most if 2 * most >= node else None
