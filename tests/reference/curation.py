"""Curation as plain loops over numbers: slow, and easy to compare with the formulas."""

import math


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def nearest(vectors, k):
    """For each vector the k others with the largest cosine, as (cosine, number)."""
    found = []
    for i, a in enumerate(vectors):
        others = [(cosine(a, b), j) for j, b in enumerate(vectors) if j != i]
        found.append(sorted(others, key=lambda one: -one[0])[:k])
    return found


def length(cos):
    return math.sqrt(max(0.0, 2 - 2 * cos))


def scale(cosines):
    """Mean distance to the farther half of the nearest."""
    far = [length(c) for c in cosines[len(cosines) // 2 :]]
    return sum(far) / len(far)


def gamma_loss(a, b, spreads, terms):
    """Mean negative logarithm of the likelihood of sums of exponentials under a Gamma of rates."""
    total = 0.0
    for s, m in zip(spreads, terms, strict=True):
        total -= math.lgamma(a + m) - math.lgamma(a) + a * math.log(b) - (a + m) * math.log(b + s)
    return total / len(spreads)


def spread(distances):
    """S of one image from its sorted distances: the nearest is not looked at."""
    logs = [math.log(distances[-1] / r) for r in distances]
    return sum(logs[1:-1]) + logs[1]


def steep_loss(c, images, a, b, window):
    """Mean negative logarithm of the density of r1 / r2, cut to ratios above the window."""
    total, count = 0.0, 0
    for distances in images:
        ratio = distances[0] / distances[1]
        if ratio < window:
            continue
        base, power = b + spread(distances), a + len(distances) - 2

        def below(t, base=base, power=power):
            return (base / (base + c * math.log(1 / t))) ** power

        step = 1e-6
        density = (below(ratio) - below(ratio * math.exp(-step))) / step
        total -= math.log(density / (1 - below(window)))
        count += 1
    return total / count


def chance_pairs(images, radius, a, b, c):
    """Expected number of pairs of different images within a radius."""
    total = 0.0
    for distances in images:
        base, power = b + spread(distances), a + len(distances) - 2
        fall = max(0.0, math.log(distances[1] / radius))
        total += (base / (base + c * fall)) ** power
        total += sum(1 for r in distances[1:] if r <= radius)
    return total / 2


def groups(count, pairs, rank):
    """(smallest number of the group or -1, the image kept instead or -1) for each image."""
    linked = {i: {i} for i in range(count)}
    for a, b in pairs:
        union = linked[a] | linked[b]
        for member in union:
            linked[member] = union
    group = [min(linked[i]) if len(linked[i]) > 1 else -1 for i in range(count)]
    kept = [-1] * count
    for image in sorted(range(count), key=lambda i: rank[i]):
        beside = [a if b == image else b for a, b in pairs if image in (a, b)]
        better = [o for o in beside if rank[o] < rank[image] and kept[o] == -1]
        if better:
            kept[image] = min(better, key=lambda o: rank[o])
    return group, kept


def doubts(labels, near, voters, tau):
    """(best label, its share, share of the own label) for each image."""
    found = []
    for image, others in enumerate(near):
        weights = {}
        for cos, other in others:
            if voters[other] and labels[other] >= 0:
                weights[labels[other]] = weights.get(labels[other], 0) + math.exp((cos - 1) / tau)
        total = sum(weights.values())
        if not total:
            found.append((-1, 0.0, 0.0))
            continue
        best = max(weights, key=lambda label: weights[label])
        found.append((best, weights[best] / total, weights.get(labels[image], 0.0) / total))
    return found


def farthest_first(vectors, count, first):
    chosen = [first]
    while len(chosen) < count:
        rest = [i for i in range(len(vectors)) if i not in chosen]
        chosen.append(min(rest, key=lambda i: max(cosine(vectors[i], vectors[c]) for c in chosen)))
    return chosen


def even_shares(room, total):
    """Deal one at a time, round after round."""
    shares = [0] * len(room)
    while sum(shares) < min(total, sum(room)):
        for i in range(len(room)):
            if (
                shares[i] < room[i]
                and sum(shares) < total
                and shares[i] == min(s for s, r in zip(shares, room, strict=True) if s < r)
            ):
                shares[i] += 1
    return shares
