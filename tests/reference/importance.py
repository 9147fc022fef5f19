"""Eta squared and what chance gives it, one value and one order at a time."""

from itertools import permutations


def eta_squared(kinds, values):
    """Take what is left within the kinds from one: another way to the same share."""
    mean = sum(values) / len(values)
    whole = within = 0.0
    for kind, value in zip(kinds, values, strict=True):
        alike = [v for k, v in zip(kinds, values, strict=True) if k == kind]
        within += (value - sum(alike) / len(alike)) ** 2
        whole += (value - mean) ** 2
    return 1 - within / whole


def over_all_orders(kinds, values):
    """Give the mean share over every order of the values, and how often it is as large."""
    found = eta_squared(kinds, values)
    shares = [eta_squared(kinds, order) for order in permutations(values)]
    as_much = sum(share >= found - 1e-9 for share in shares)
    return sum(shares) / len(shares), as_much / len(shares)
