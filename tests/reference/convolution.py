"""The gradient of a convolution's weights, as plain loops."""

import torch


def weight_gradient(maps, gradient, kernel, stride, padding):
    images, channels, height, width = maps.shape
    _, out, rows, columns = gradient.shape
    found = torch.zeros(out, channels, *kernel, dtype=maps.dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for y in range(rows):
                for x in range(columns):
                    row, column = stride[0] * y + i - padding[0], stride[1] * x + j - padding[1]
                    if not (0 <= row < height and 0 <= column < width):
                        continue
                    for image in range(images):
                        for o in range(out):
                            for c in range(channels):
                                one = gradient[image, o, y, x] * maps[image, c, row, column]
                                found[o, c, i, j] += one
    return found
