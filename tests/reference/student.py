"""Student's t of two cells, one seed and one image at a time; its tails by adding up an area."""

from math import atan2, cos, pi, sqrt

STEPS = 2_000


def tails(t, df):
    """Share of the area beyond |t|: with t = sqrt(df) tan(a) the density is cos(a)^(df - 1)."""
    limit = atan2(abs(t), sqrt(df))
    beyond, within = area(limit, pi / 2, df), area(0, limit, df)
    return beyond / (beyond + within)


def area(start, end, df):
    """Simpson's rule."""
    width, total = (end - start) / STEPS, 0.0
    for step in range(STEPS + 1):
        weight = 1 if step in (0, STEPS) else 4 if step % 2 else 2
        total += weight * max(cos(start + step * width), 0.0) ** (df - 1)
    return total * width / 3


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def variance(values):
    middle, total = mean(values), 0.0
    for value in values:
        total += (value - middle) ** 2
    return total / (len(values) - 1)


def p_of(apart, terms):
    """`terms` are variances with their degrees of freedom."""
    whole = below = 0.0
    for size, own in terms:
        whole += size
        below += size**2 / own
    return tails(apart / sqrt(whole), whole**2 / below)


def paired(one, other):
    """Cells are lists of seeds, a seed is a list of images: 1 where it was right."""
    terms = [
        (variance([mean(seed) for seed in cell]) / len(cell), len(cell) - 1)
        for cell in (one, other)
        if len(cell) > 1
    ]
    apart = []
    for image in range(len(one[0])):
        mine = mean([seed[image] for seed in one])
        theirs = mean([seed[image] for seed in other])
        apart.append(mine - theirs)
    terms.append((variance(apart) / len(apart), len(apart) - 1))
    return p_of(mean(apart), terms)


def over_seeds(one, other):
    terms = [(variance(cell) / len(cell), len(cell) - 1) for cell in (one, other)]
    return p_of(mean(one) - mean(other), terms)
