"""Colour jitter and blur for one core, compiled by numba: an image stays in the caches.

The same formulas as `adjustments` and `blur`, pixel by pixel instead of pass by pass; they are
used on the CPU where numba is installed (`pip install counterpoint[fast]`). No fast-math but in
the sum of the mean: a pixel's bits do not depend on its place.
"""

from typing import no_type_check

import numpy as np
from numba import njit

from counterpoint.parts.views.adjustments import LUMA

KERNEL = {"nogil": True, "cache": True, "error_model": "numpy"}

f32 = np.float32
RED, GREEN, BLUE = (f32(weight) for weight in LUMA)
ZERO, ONE, TWO, THREE, SIX = (f32(number) for number in (0, 1, 2, 3, 6))


@njit(inline="always")
@no_type_check
def _clamp(x, low, high):
    return min(max(x, low), high)


@njit(**KERNEL)
@no_type_check
def _scale(image, factor, shift):
    """Multiply, add and clamp: brightness with no shift, contrast with its share of the mean."""
    for c in range(len(image)):
        channel = image[c]
        for i in range(channel.size):
            channel[i] = _clamp(channel[i] * factor + shift, ZERO, ONE)


@njit(fastmath={"reassoc", "nsz"}, **KERNEL)
@no_type_check
def _mean(channel):
    total = ZERO
    for i in range(channel.size):
        total += channel[i]
    return total / f32(channel.size)


@njit(**KERNEL)
@no_type_check
def _saturate(image, factor):
    red, green, blue = image[0], image[1], image[2]
    rest = ONE - factor
    for i in range(red.size):
        grey = (RED * red[i] + GREEN * green[i] + BLUE * blue[i]) * rest
        red[i] = _clamp(red[i] * factor + grey, ZERO, ONE)
        green[i] = _clamp(green[i] * factor + grey, ZERO, ONE)
        blue[i] = _clamp(blue[i] * factor + grey, ZERO, ONE)


@njit(inline="always")
@no_type_check
def _near(hue, turn):
    return _clamp(abs(abs(hue + turn) - THREE), ONE, TWO)


@njit(**KERNEL)
@no_type_check
def _turn(image, factor):
    """Turn the hue; `adjustments.hue_` says how."""
    red, green, blue = image[0], image[1], image[2]
    own = (SIX * factor + THREE) % SIX - THREE
    after = (SIX * factor + ONE) % SIX - THREE
    before = (SIX * factor + f32(5)) % SIX - THREE
    for i in range(red.size):
        r, g, b = red[i], green[i], blue[i]
        bottom = min(min(r, g), b)
        spread = max(max(r, g), b) - bottom
        hue = ONE + (g + b - r - bottom) / max(spread, f32(1e-12))
        hue = hue if g >= b else -hue
        base = bottom - spread
        red[i] = base + spread * _near(hue, own)
        green[i] = base + spread * _near(hue, after)
        blue[i] = base + spread * _near(hue, before)


@njit(**KERNEL)
@no_type_check
def jitter(images, orders, factors):
    """Take each image (3, pixel) through its operators; -1 stands for none."""
    for n in range(len(images)):
        image = images[n]
        for kind in orders[n]:
            if kind == 0:
                _scale(image, factors[n, 0], ZERO)
            elif kind == 1:
                mean = RED * _mean(image[0]) + GREEN * _mean(image[1]) + BLUE * _mean(image[2])
                _scale(image, factors[n, 1], mean * (ONE - factors[n, 1]))
            elif kind == 2:
                _saturate(image, factors[n, 2])
            elif kind == 3:
                _turn(image, factors[n, 3])


@njit(inline="always")
@no_type_check
def _reflected(place, of):
    return (of - 1) - abs((of - 1) - abs(place))


@njit(**KERNEL)
@no_type_check
def _add(line, weight, one, other):
    for i in range(line.size):
        line[i] += weight * (one[i] + other[i])


@njit(**KERNEL)
@no_type_check
def _set(line, weight, one):
    for i in range(line.size):
        line[i] = weight * one[i]


@njit(**KERNEL)
@no_type_check
def _blur_channel(channel, weight, reach, down, line):
    """Blur down the columns into `down`, then along each row; the Gaussian is symmetric."""
    height, width = channel.shape
    for y in range(height):
        _set(down[y], weight[reach], channel[y])
        for k in range(1, reach + 1):
            above, below = _reflected(y - k, height), _reflected(y + k, height)
            _add(down[y], weight[reach + k], channel[above], channel[below])
    for y in range(height):
        line[reach : reach + width] = down[y]
        for k in range(1, reach + 1):
            line[reach - k] = down[y, k]
            line[reach + width - 1 + k] = down[y, width - 1 - k]
        _set(channel[y], weight[reach], down[y])
        for k in range(1, reach + 1):
            before, after = line[reach - k :][:width], line[reach + k :][:width]
            _add(channel[y], weight[reach + k], before, after)


@njit(**KERNEL)
@no_type_check
def blur_compiled(images, weights, chosen):
    """Blur the chosen images (channel, height, width), each by its own weights."""
    height, width = images.shape[2:]
    down = np.empty((height, width), f32)
    line = np.empty(width + weights.shape[1], f32)
    centre = weights.shape[1] // 2
    for n in np.flatnonzero(chosen):
        reach = 0  # weights end where they are 0
        while reach < centre and weights[n, centre + reach + 1] > ZERO:
            reach += 1
        weight = weights[n, centre - reach : centre + reach + 1]
        for c in range(images.shape[1]):
            _blur_channel(images[n, c], weight, reach, down, line)
