"""Losses of the angle: they read the temperature from the bound of the scores."""

from counterpoint.framework import PartError


def inverse_tau(bound: float | None, *, loss: str) -> float:
    """Return 1 / tau, the bound of a cosine over tau; refuse scores without a bound.

    >>> inverse_tau(2.0, loss="DCLW")
    2.0
    >>> inverse_tau(None, loss="DCLW")
    Traceback (most recent call last):
    counterpoint.framework.errors.PartError: loss: got scores without a known bound, needs a cosine over a constant tau: DCLW uses the angle between vectors; use Cosine or ProjectedCosine with learn_tau=False
    """  # noqa: E501 (an error is one line)
    if bound is None:
        raise PartError(
            "loss",
            got="scores without a known bound",
            needs=f"a cosine over a constant tau: {loss} uses the angle between vectors",
            do="use Cosine or ProjectedCosine with learn_tau=False",
        )
    return bound
