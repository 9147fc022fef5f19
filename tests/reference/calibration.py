"""Agreement of criteria with a probe as plain loops."""

import math


def correlation(groups):
    """Correlate ranks within groups: pairs of lists, (criterion, accuracy) of each group."""
    top = left = right = 0.0
    for xs, ys in groups:
        ranks = [[_rank(v, values) for v in values] for values in (xs, ys)]
        for x, y in zip(*ranks, strict=True):
            top += x * y
            left += x * x
            right += y * y
    return top / math.sqrt(left * right)


def regret(groups):
    """Mean over groups of (criterion, validation, test): chosen by labels less by criterion."""
    lost = []
    for scores, validation, test in groups:
        by_labels = by_criterion = 0
        for place in range(len(test)):
            if validation[place] > validation[by_labels]:
                by_labels = place
            if scores[place] > scores[by_criterion]:
                by_criterion = place
        lost.append(test[by_labels] - test[by_criterion])
    return 100 * sum(lost) / len(lost)


def _rank(value, values):
    """From -1/2 for the lowest to 1/2; equal values share theirs."""
    below = sum(other < value for other in values)
    equal = sum(other == value for other in values)
    return (below + (equal - 1) / 2) / (len(values) - 1) - 0.5
