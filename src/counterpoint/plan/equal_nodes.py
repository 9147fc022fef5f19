"""GPUs shared out over nodes, of which a launcher wants as many of each."""


def equal_nodes(gpus: int, node: int) -> tuple[int, int]:
    """Return the nodes that GPUs lie in, and how many in each: as many, and at least half of one.

    >>> equal_nodes(64, node=8), equal_nodes(12, node=8), equal_nodes(3, node=8)
    ((8, 8), (2, 6), (1, 3))
    >>> equal_nodes(17, node=8)
    Traceback (most recent call last):
    ValueError: plan: 17 GPUs cannot lie in nodes of 8 with as many in each, unless most ...
    """
    each = _each(gpus, node)
    if each is None:
        fewer = max(n for n in range(1, gpus) if _each(n, node))
        more = next(n for n in range(gpus + 1, gpus + node + 1) if _each(n, node))
        raise ValueError(
            f"plan: {gpus} GPUs cannot lie in nodes of {node} with as many in each, unless most of "
            f"each is left empty; take --gpus {fewer} or {more}"
        )
    return gpus // each, each


def _each(gpus: int, node: int) -> int | None:
    """Return the most GPUs of a node that share so many out; None where they are few."""
    if gpus <= node:
        return gpus
    most = max(n for n in range(1, node + 1) if gpus % n == 0)
    return most if 2 * most >= node else None
