"""The tails of Student's distribution: how often a t is as large by chance."""

from math import exp, inf, lgamma, log

TERMS = 10_000  # far more than it takes: about the root of the degrees of freedom
EXACT = 1e-15  # a factor this near to 1 no longer changes a double
TINY = 1e-300  # in the place of a denominator of 0 (Lentz's method)


def student_tails(t: float, df: float) -> float:
    r"""Return the chance of a t this far from 0, on either side, with `df` degrees of freedom.

    $$ P(|T| \ge |t|) = I_x(\nu / 2, 1 / 2), \quad x = \frac{\nu}{\nu + t^2} $$

    with I the regularised incomplete beta function. Degrees of freedom need not be whole.

    >>> round(student_tails(12.706, 1), 4), round(student_tails(1.96, 1e6), 4)
    (0.05, 0.05)
    >>> student_tails(0.0, 3)
    1.0
    """
    square = t * t
    if square == inf:
        return 0.0
    # Both shares are computed, since 1 - x has lost its digits where x is near 1.
    return _incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5)


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Return I_x(a, b), where `rest` is 1 - x."""
    if x == 0.0 or rest == 0.0:
        return float(rest == 0.0)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest))
    if x < (a + 1) / (a + b + 2):  # where the fraction converges fast
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(rest, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8) by Lentz."""
    upper, lower = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / _not_zero(1 + term * lower)
            upper = _not_zero(1 + term / upper)
            value *= upper * lower
        if abs(upper * lower - 1) < EXACT:
            return value
    raise ArithmeticError(f"study: the beta function of {x}, {a}, {b} does not converge")


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
