"""The nearest name to one that was misspelt."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, limit: int = 1) -> str:
    """Return a question that names up to `limit` of the nearest names; empty when none is near.

    >>> did_you_mean("simcrl", ["amdim", "simclr"])
    'did you mean simclr?'
    >>> did_you_mean("sgd", ["amdim", "simclr"])
    ''
    """
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=limit)
    return f"did you mean {' or '.join(lower[one] for one in near)}?" if near else ""
