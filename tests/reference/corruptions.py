"""Corruptions of one image, a pixel at a time, from their definitions; images are (3, h, w)."""

import colorsys
import math

import numpy as np


def levels(values):
    return np.clip(np.rint(values), 0, 255)


def gaussian(sigma, reach):
    weights = [math.exp(-(n**2) / (2 * sigma**2)) for n in range(-reach, reach + 1)]
    return [w / sum(weights) for w in weights]


def once(place, of):
    """Reflect at the last pixel, which is not repeated."""
    while not 0 <= place < of:
        place = -place if place < 0 else 2 * (of - 1) - place
    return place


def twice(place, of):
    """Reflect behind the last pixel, which comes twice."""
    while not 0 <= place < of:
        place = -1 - place if place < 0 else 2 * of - 1 - place
    return place


def held(place, of):
    """Repeat the last pixel."""
    return min(max(place, 0), of - 1)


def convolved(image, kernel, border):
    """Every pixel under a square kernel."""
    _, tall, wide = image.shape
    reach = len(kernel) // 2
    out = np.zeros(image.shape)
    for y in range(tall):
        for x in range(wide):
            for v in range(-reach, reach + 1):
                for u in range(-reach, reach + 1):
                    weight = kernel[v + reach][u + reach]
                    if weight:
                        out[:, y, x] += weight * image[:, border(y + v, tall), border(x + u, wide)]
    return out


def gaussian_blur(image, sigma):
    line = gaussian(sigma, int(4 * sigma + 0.5))
    return levels(convolved(image, [[a * b for b in line] for a in line], held))


def disk(radius, sigma):
    """A disk and around it zeros, each pixel spread by a Gaussian of 3 or 5 pixels."""
    soft = 1 if radius <= 8 else 2
    reach = int(radius) + soft
    line, side = gaussian(sigma, soft), range(-reach, reach + 1)
    within = [(y, x) for y in side for x in side if x * x + y * y <= radius * radius]
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    for y, x in within:
        for v in range(-soft, soft + 1):
            for u in range(-soft, soft + 1):
                weight = line[v + soft] * line[u + soft] / len(within)
                kernel[y + v + reach, x + u + reach] += weight
    return kernel.tolist()


def defocus_blur(image, radius, sigma):
    return levels(convolved(image, disk(radius, sigma), once))


def streaked(image, degrees, radius, sigma):
    """Half a Gaussian along a ray, in whole pixels."""
    channels, tall, wide = image.shape
    steps = range(2 * radius + 1)
    weights = [math.exp(-(n**2) / (2 * sigma**2)) for n in steps]
    angle, out = degrees * math.pi / 180, np.zeros((channels, tall, wide))
    for y in range(tall):
        for x in range(wide):
            for n in steps:
                v = held(y + math.ceil(n * math.sin(angle) - 0.5), tall)
                u = held(x + math.ceil(n * math.cos(angle) - 0.5), wide)
                out[:, y, x] += weights[n] / sum(weights) * image[:, v, u]
    return out


def motion_blur(image, degrees, radius, sigma):
    return levels(streaked(image, degrees, radius, sigma))


def between(image, y, x, border):
    """Interpolate between four pixels."""
    _, tall, wide = image.shape
    top, left = math.floor(y), math.floor(x)
    total = 0
    for v, down in ((top, 1 - (y - top)), (top + 1, y - top)):
        for u, right in ((left, 1 - (x - left)), (left + 1, x - left)):
            total += down * right * image[:, border(v, tall), border(u, wide)]
    return total


def zoomed(image, factor):
    """Cut the middle out, resize it corner on corner, and cut off what is too much."""
    _, tall, wide = image.shape
    out = np.zeros(image.shape)
    cut = [math.ceil(side / factor) for side in (tall, wide)]
    grown = [round(side * factor) for side in cut]
    first = [(side - inner) // 2 for side, inner in zip((tall, wide), cut, strict=True)]
    trim = [(outer - side) // 2 for side, outer in zip((tall, wide), grown, strict=True)]
    for y in range(tall):
        for x in range(wide):
            place = [
                (n + trim[axis]) * (cut[axis] - 1) / (grown[axis] - 1) + first[axis]
                for axis, n in enumerate((y, x))
            ]
            out[:, y, x] = between(image, *place, held)
    return out


def zoom_blur(image, factors):
    total = image.astype(float)
    for factor in factors:
        total = total + zoomed(image, factor)
    return levels(total / (len(factors) + 1))


def plasma(numbers, side, decay):
    """Diamonds and squares on a torus, point after point."""
    points, numbers = {(0, 0): 0.0}, iter(2 * number - 1 for number in numbers)
    step, amplitude = side, 1.0

    def put(y, x, around):
        mean = sum(points[(y + v) % side, (x + u) % side] for v, u in around) / 4
        points[y, x] = mean + amplitude * next(numbers)

    while step > 1:
        half, grid = step // 2, range(0, side, step)
        square = [(v, u) for v in (-half, half) for u in (-half, half)]
        diamond = [(-half, 0), (half, 0), (0, -half), (0, half)]
        for y in grid:
            for x in grid:
                put(y + half, x + half, square)
        for y in grid:
            for x in grid:
                put(y, x + half, diamond)
        for y in grid:
            for x in grid:
                put(y + half, x, diamond)
        step, amplitude = half, amplitude / decay**2
    low, high = min(points.values()), max(points.values())
    return [[(points[y, x] - low) / (high - low) for x in range(side)] for y in range(side)]


def fog(image, numbers, side, decay, thickness):
    _, tall, wide = image.shape
    values, most = image / 255, image.max() / 255
    values = values + thickness * np.array(plasma(numbers, side, decay))[:tall, :wide]
    return levels(values * most / (most + thickness) * 255)


def snow(image, normals, degrees, settings):
    mean, deviation, zoom, least, radius, sigma, kept = settings
    _, tall, wide = image.shape
    values = image / 255
    flakes = zoomed(mean + deviation * np.array(normals).reshape(1, tall, wide), zoom)
    flakes = np.clip(np.where(flakes < least, 0, flakes), 0, 1)
    fallen = streaked(flakes, degrees, radius, sigma)
    grey = 0.299 * values[0] + 0.587 * values[1] + 0.114 * values[2]
    white = kept * values + (1 - kept) * np.maximum(values, grey * 1.5 + 0.5)
    return levels((white + fallen + fallen[:, ::-1, ::-1]) * 255)


def by_hsv(image, change):
    """Change (hue, saturation, value) of every pixel."""
    out = np.zeros(image.shape)
    for y in range(image.shape[1]):
        for x in range(image.shape[2]):
            hsv = colorsys.rgb_to_hsv(*(image[:, y, x] / 255))
            out[:, y, x] = [255 * v for v in colorsys.hsv_to_rgb(*change(*hsv))]
    return levels(out)


def brightness(image, more):
    return by_hsv(image, lambda h, s, v: (h, s, min(v + more, 1)))


def saturate(image, factor, more):
    return by_hsv(image, lambda h, s, v: (h, min(s * factor + more, 1), v))


def contrast(image, kept):
    mean = image.reshape(3, -1).mean(axis=1)[:, None, None]
    return levels((image - mean) * kept + mean)


def affine_places(moves, tall, wide):
    """Where each pixel comes from when three points (column, row) are moved: M solved, inverted."""
    half = min(tall, wide) // 3
    points = [(1, 1), (1, -1), (-1, -1)]
    points = [(wide // 2 + x * half, tall // 2 + y * half) for x, y in points]
    moved = np.array(points) + np.array(moves).reshape(3, 2)
    solved = np.linalg.solve(np.array([(x, y, 1) for x, y in points]), moved)  # rows: x, y, 1
    inverse = np.linalg.inv(np.column_stack([solved, (0, 0, 1)]))
    return {
        (y, x): (np.array([x, y, 1]) @ inverse)[1::-1] for y in range(tall) for x in range(wide)
    }


def elastic_transform(image, moves, fields, far, smooth):
    """Moves (6), and two maps of numbers from -1 to 1: down and to the right."""
    _, tall, wide = image.shape
    stretched, out = np.zeros(image.shape), np.zeros(image.shape)
    for (y, x), place in affine_places(moves, tall, wide).items():
        stretched[:, y, x] = between(image, *place, once)
    smoothed = np.array(fields, dtype=float)
    if smooth:
        line = gaussian(smooth, int(3 * smooth + 0.5))
        reach = len(line) // 2
        for axis in (1, 2):
            of = smoothed.shape[axis]
            taken = [
                sum(
                    w * smoothed.take(twice(n + k - reach, of), axis=axis)
                    for k, w in enumerate(line)
                )
                for n in range(of)
            ]
            smoothed = np.stack(taken, axis=axis)
    for y in range(tall):
        for x in range(wide):
            down, right = far * smoothed[:, y, x]
            out[:, y, x] = between(stretched, y + down, x + right, twice)
    return levels(out)


def moved(image, down, right):
    """A window of the same size, elsewhere."""
    _, tall, wide = image.shape
    out = np.zeros(image.shape)
    for y in range(tall):
        for x in range(wide):
            out[:, y, x] = image[:, once(y + down, tall), once(x + right, wide)]
    return out
