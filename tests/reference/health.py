"""The signs of health as plain loops over lists of numbers, from the papers' equations."""

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def jacobi(matrix):
    """Eigenvalues and eigenvectors (as rows) of a symmetric matrix, by Jacobi's rotations."""
    a = [list(row) for row in matrix]
    n = len(a)
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(100):
        if sum(a[i][j] ** 2 for i in range(n) for j in range(n) if i != j) < 1e-30:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p][q] == 0.0:
                    continue
                angle = 0.5 * math.atan2(2 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(angle), math.sin(angle)
                for k in range(n):
                    a[k][p], a[k][q] = c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]
                for k in range(n):
                    a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
                    v[p][k], v[q][k] = c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]
    return [a[i][i] for i in range(n)], v


def smooth_rank(values):
    total = sum(values)
    entropy = 0.0
    for value in values:
        p = value / total + 1e-7
        entropy -= p * math.log(p)
    return math.exp(entropy)


def rankme(vectors):
    columns = list(zip(*vectors, strict=True))
    gram = [[dot(a, b) for b in columns] for a in columns]
    return smooth_rank([math.sqrt(max(0.0, value)) for value in jacobi(gram)[0]])


def mean(vectors):
    return [sum(column) / len(column) for column in zip(*vectors, strict=True)]


def alpha_req(vectors, first, last):
    """A line through (log k, log lambda_k) for k from first to last, with weights 1 / k."""
    middle = mean(vectors)
    centred = [[x - m for x, m in zip(row, middle, strict=True)] for row in vectors]
    columns = list(zip(*centred, strict=True))
    covariance = [[dot(a, b) / (len(vectors) - 1) for b in columns] for a in columns]
    eigenvalues = sorted(jacobi(covariance)[0], reverse=True)
    ranks = range(first, min(last, len(eigenvalues)) + 1)
    x = [math.log(k) for k in ranks]
    y = [math.log(eigenvalues[k - 1]) for k in ranks]
    w = [1 / k for k in ranks]
    # The normal equations of y = c - alpha x.
    sw, sx, sy = sum(w), dot(w, x), dot(w, y)
    sxx = sum(a * b * b for a, b in zip(w, x, strict=True))
    sxy = sum(a * b * c for a, b, c in zip(w, x, y, strict=True))
    return -(sw * sxy - sx * sy) / (sw * sxx - sx * sx)


def lidar(vectors, image):
    width = len(vectors[0])
    classes = sorted(set(image))
    mine = {c: [v for v, i in zip(vectors, image, strict=True) if i == c] for c in classes}
    means = {c: mean(rows) for c, rows in mine.items()}
    middle = mean(list(means.values()))
    between = [[0.0] * width for _ in range(width)]
    within = [[1e-4 * (i == j) for j in range(width)] for i in range(width)]
    for c in classes:
        for i in range(width):
            for j in range(width):
                apart = (means[c][i] - middle[i]) * (means[c][j] - middle[j])
                between[i][j] += apart / len(classes)
                for row in mine[c]:
                    spread = (row[i] - means[c][i]) * (row[j] - means[c][j])
                    within[i][j] += spread / len(mine[c]) / len(classes)
    values, directions = jacobi(within)
    half = [
        [
            sum(d[i] * d[j] / math.sqrt(s) for s, d in zip(values, directions, strict=True))
            for j in range(width)
        ]
        for i in range(width)
    ]
    return smooth_rank([max(0.0, x) for x in jacobi(product(product(half, between), half))[0]])


def unit(vector):
    length = math.sqrt(dot(vector, vector))
    return [x / length for x in vector]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def alignment(first, second):
    pairs = zip(first, second, strict=True)
    return sum(distance(unit(a), unit(b)) for a, b in pairs) / len(first)


def uniformity(vectors, t):
    units = [unit(v) for v in vectors]
    terms = [
        math.exp(-t * distance(units[i], units[j]))
        for i in range(len(units))
        for j in range(i + 1, len(units))
    ]
    return math.log(sum(terms) / len(terms))


def deviation(vectors):
    units = [unit(v) for v in vectors]
    middle = mean(units)
    squares = [sum((u[k] - middle[k]) ** 2 for u in units) for k in range(len(middle))]
    return sum(math.sqrt(s / len(units)) for s in squares) / len(squares) * math.sqrt(len(squares))


def answered(rows):
    """rows: for every anchor its positive and its negative scores; top-1, chance, surprise."""
    found, guess, surprise, asked = 0, 0.0, 0.0, 0
    for positive, negative in rows:
        if not positive or not negative:
            continue
        asked += 1
        found += max(positive) > max(negative)
        guess += len(positive) / (len(positive) + len(negative))
        for s in positive:
            wrong = sum(math.exp(n - s) for n in negative)
            surprise += math.log(1 + wrong) / math.log(1 + len(negative)) / len(positive)
    return found / asked, guess / asked, surprise / asked


def histogram(values, limit, bins):
    """Counts of bins [edge, next edge); the first and the last are open."""
    counts = [0] * bins
    for value in values:
        place = 0
        while place < bins - 1 and value >= -limit + (place + 1) * 2 * limit / bins:
            place += 1
        counts[place] += 1
    return counts


def ridge(bank, labels, queries, penalty):
    """Gradient descent to the minimum of |X W - Y|^2 / n + penalty |W|^2, one class at a time."""
    n, width = len(bank), len(bank[0])
    middle = mean(bank)
    scale = [math.sqrt(sum((r[k] - middle[k]) ** 2 for r in bank) / n) for k in range(width)]
    known, asked = (
        [[(r[k] - middle[k]) / scale[k] for k in range(width)] for r in rows]
        for rows in (bank, queries)
    )
    answers = [[] for _ in queries]
    for c in range(max(labels) + 1):
        share = sum(label == c for label in labels) / n
        wanted = [float(label == c) - share for label in labels]
        weight = [0.0] * width
        for _ in range(2000):
            wrong = [dot(r, weight) - y for r, y in zip(known, wanted, strict=True)]
            for k in range(width):
                slope = sum(e * r[k] for e, r in zip(wrong, known, strict=True)) / n
                weight[k] -= 0.2 * (slope + penalty * weight[k])
        for row, answer in zip(asked, answers, strict=True):
            answer.append(dot(row, weight) + share)
    return [max(range(len(a)), key=a.__getitem__) for a in answers]
