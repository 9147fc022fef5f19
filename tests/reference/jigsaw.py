"""Shuffled patches of an image, pixel by pixel."""


def jigsaw(image, numbers, cells, q):
    """Misra and van der Maaten 2019, section 3.2: patches of cells, in a drawn order.

    image: rows of pixels by channel; numbers: uniform on [0, 1), first the keys of the order, then
    where in its cell each patch begins, downwards and across.
    """
    count, side = cells * cells, len(image[0]) // cells
    keys, down, across = (numbers[k * count : (k + 1) * count] for k in range(3))
    order = sorted(range(count), key=lambda cell: keys[cell])
    patches = []
    for place, cell in enumerate(order):
        top = (cell // cells) * side + int(down[place] * (side - q + 1))
        left = (cell % cells) * side + int(across[place] * (side - q + 1))
        patches.append([[row[left : left + q] for row in rows[top : top + q]] for rows in image])
    return patches
