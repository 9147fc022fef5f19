"""The losses of the methods as plain loops, from the equations and the authors' code.

Maps are nested as [image][row][column] -> vector; views of one image have the same number.
"""

import math

from reference.losses import cosine, dot, nce, nt_xent
from reference.softmax import log_sum_exp


def places(features):
    """Lists a map (c, h, w) as its vectors, row by row."""
    _, height, width = features.shape
    return [features[:, y, x] for y in range(height) for x in range(width)]


def amdim(first, second, tasks, *, clip, penalty, chosen):
    """amdim-public, costs.py: per task both directions, half each; tasks are added.

    first, second: for every image its maps. tasks: (anchor map, candidate map). chosen(task,
    direction, image, count) gives the place of the anchor.
    """
    total = 0.0
    for t, (i, j) in enumerate(tasks):
        for direction, (a, b) in enumerate(((first, second), (second, first))):
            count = len(a)
            loss, squares, pairs = 0.0, 0.0, 0
            for n in range(count):
                here = places(a[n][i])
                anchor = here[chosen(t, direction, n, len(here))]
                width = len(anchor)
                raw = [[dot(anchor, v) / width**0.5 for v in places(b[m][j])] for m in range(count)]
                for row in raw:
                    squares += sum(s * s for s in row)
                    pairs += len(row)
                clipped = raw
                if clip is not None:
                    clipped = [[clip * (s / clip).tanh() for s in row] for row in raw]
                negatives = [s for m in range(count) if m != n for s in clipped[m]]
                terms = [log_sum_exp([s, *negatives]) - s for s in clipped[n]]
                loss += sum(terms) / len(terms)
            total += 0.5 * (loss / count + penalty * squares / pairs)
    return total


def amdim_printed(first, second, tasks, *, chosen):
    """Equations 1 and 2 of the paper as printed, but for the sign of equation 2.

    A third of three comparisons, the first view's place against all places of the second: its own
    places are added above the line, those of other images below it.
    """
    total = 0.0
    for t, (i, j) in enumerate(tasks):
        terms = []
        for n in range(len(first)):
            here = places(first[n][i])
            anchor = here[chosen(t, 0, n, len(here))]
            scores = [[dot(anchor, v) for v in places(image[j])] for image in second]
            below = [s for m, row in enumerate(scores) if m != n for s in row]
            terms.append(log_sum_exp(below) - log_sum_exp(scores[n]))
        total += sum(terms) / len(terms)
    return total / len(tasks)


def cpc(contexts, targets, predictors, offsets, scale):
    """Equation 3 for every offset: the target k rows below among all targets of the batch."""
    total = 0.0
    _, height, width = contexts[0].shape
    everything = [t for target in targets for t in places(target)]
    for predictor, k in zip(predictors, offsets, strict=True):
        terms = []
        for context, target in zip(contexts, targets, strict=True):
            for y in range(height - k):
                for x in range(width):
                    anchor = scale * predictor(context[:, y, x])
                    scores = [dot(anchor, t) for t in everything]
                    positive = dot(anchor, target[:, y + k, x])
                    terms.append(log_sum_exp(scores) - positive)
        total += sum(terms) / len(terms)
    return total


def moco(queries, keys, queue, tau):
    """He et al. 2019, algorithm 1: the own key against the queue."""
    rows = []
    for query, key in zip(queries, keys, strict=True):
        positive = [cosine(query, key) / tau]
        rows.append((positive, [cosine(query, old) / tau for old in queue]))
    return nce(rows, numerator="each", denominator="own", average="anchors")


def ressl(queries, keys, queue, tau, target_tau, similarity=cosine):
    """Zheng et al. 2021, equations 4 to 6: the softmax of a key over the queue is the target."""
    terms = []
    for query, key in zip(queries, keys, strict=True):
        scores = [similarity(query, old) / tau for old in queue]
        targets = [(cosine(key, old) / target_tau).detach() for old in queue]
        below, target_below = log_sum_exp(scores), log_sum_exp(targets)
        shares = [(t - target_below).exp() for t in targets]
        terms.append(sum(p * (below - s) for p, s in zip(shares, scores, strict=True)))
    return sum(terms) / len(terms)


def densecl(queries, keys, queues, tau):
    """WXinlong/DenseCL, densecl.py: half of MoCo's loss, and half of the same for places.

    queries, keys: for every image its backbone map, its dense map and its vector. The key of a
    place is the dense vector at the place whose backbone vector is nearest.
    """
    whole = moco([q[2] for q in queries], [k[2] for k in keys], queues[0], tau)
    anchors, matched = [], []
    for (backbone, dense, _), (other_backbone, other_dense, _) in zip(queries, keys, strict=True):
        others, candidates = places(other_backbone), places(other_dense)
        for where, anchor in zip(places(backbone), places(dense), strict=True):
            near = [cosine(where, other).item() for other in others]
            anchors.append(anchor)
            matched.append(candidates[near.index(max(near))])
    return 0.5 * whole + 0.5 * moco(anchors, matched, queues[1], tau)


def byol(predictions, targets):
    """Grill et al. 2020, equation 2, the mean of both directions: 2 - 2 cos."""
    first, second = predictions
    one, other = targets
    terms = [2 - 2 * cosine(p, t) for p, t in zip(first, other, strict=True)]
    terms += [2 - 2 * cosine(p, t) for p, t in zip(second, one, strict=True)]
    return sum(terms) / len(terms)


def cmc(lightness, colour, bank, index, drawn, tau):
    """HobbitLong/CMC with --softmax: the own entry of the other view against drawn entries."""
    total = 0.0
    for vectors, entries in ((lightness, bank[1]), (colour, bank[0])):
        terms = []
        for vector, sample in zip(vectors, index, strict=True):
            positive = cosine(vector, entries[sample]) / tau
            negatives = [cosine(vector, entries[n]) / tau for n in drawn]
            terms.append(log_sum_exp([positive, *negatives]) - positive)
        total += sum(terms) / len(terms)
    return total


def invention(lightness, colour, clip):
    """docs/methods/invention.md: the other view of an image among those of the batch, both ways."""
    total = 0.0
    for vectors, others in ((lightness, colour), (colour, lightness)):
        terms = []
        for n, vector in enumerate(vectors):
            raw = [dot(vector, other) / len(vector) ** 0.5 for other in others]
            scores = [clip * (s / clip).tanh() for s in raw]
            terms.append(log_sum_exp(scores) - scores[n])
        total += 0.5 * sum(terms) / len(terms)
    return total


def simsiam(predictions, projections):
    """Chen and He 2021, algorithm 1, as 2 - 2 cos: the other view's projection is a constant."""
    (p1, p2), (z1, z2) = predictions, projections
    terms = []
    for image in range(len(p1)):
        terms.append(2 - 2 * cosine(p1[image], z2[image].detach()))
        terms.append(2 - 2 * cosine(p2[image], z1[image].detach()))
    return sum(terms) / len(terms)


def mocov3(queries, keys, tau):
    """Chen, Xie and He 2021, algorithm 1, without its factor: the mean of both directions."""
    total = 0.0
    for q, k in ((queries[0], keys[1]), (queries[1], keys[0])):
        for image, query in enumerate(q):
            scores = [cosine(query, key) / tau for key in k]
            total += log_sum_exp(scores) - scores[image]
    return total / (2 * len(queries[0]))


def nearest(vector, support):
    """Return the vector of the support set with the largest cosine."""
    return max(support, key=lambda other: cosine(vector, other).item()).detach()


def nnclr(projections, predictions, support, tau):
    """Dwibedi et al. 2021, algorithm 1: a row is a neighbour, columns are the predicted other view.

    An empty support set leaves the vector itself.
    """
    total = 0.0
    for z, p in ((projections[0], predictions[1]), (projections[1], predictions[0])):
        for image, vector in enumerate(z):
            row = nearest(vector, support or [vector])
            scores = [cosine(row, other) / tau for other in p]
            total += log_sum_exp(scores) - scores[image]
    return total / (2 * len(projections[0]))


def instdisc(vectors, entries, index, tau):
    """Wu et al. 2018, equation 2: the own entry among the entries of all samples."""
    terms = []
    for vector, sample in zip(vectors, index, strict=True):
        scores = [cosine(vector, entry) / tau for entry in entries]
        terms.append(log_sum_exp(scores) - scores[sample])
    return sum(terms) / len(terms)


def pirl(images, patches, entries, index, drawn, tau):
    """Misra and van der Maaten 2019, equation 5 (lambda 0.5) times 2, by a softmax."""
    total = 0.0
    for vectors in (images, patches):
        terms = []
        for vector, sample in zip(vectors, index, strict=True):
            positive = cosine(vector, entries[sample]) / tau
            negatives = [cosine(vector, entries[n]) / tau for n in drawn]
            terms.append(log_sum_exp([positive, *negatives]) - positive)
        total += sum(terms) / len(terms)
    return total


def supcon(vectors, labels, tau):
    """Khosla et al. 2020, equation 2 (L_out), as a mean over anchors that have a positive."""
    terms = []
    for i, anchor in enumerate(vectors):
        others = [j for j in range(len(vectors)) if j != i]
        scores = {j: cosine(anchor, vectors[j]) / tau for j in others}
        below = log_sum_exp(list(scores.values()))
        positives = [j for j in others if labels[j] == labels[i]]
        if positives:
            terms.append(sum(below - scores[j] for j in positives) / len(positives))
    return sum(terms) / len(terms)


def simclrts(first, second, progress, *, lowest, highest, cycles):
    """Kukleva et al. 2023, algorithm 1, in NT-Xent: tau is a cosine of the share that is done."""
    up = (1 + math.cos(2 * math.pi * cycles * progress)) / 2
    return nt_xent(first, second, lowest + (highest - lowest) * up)
