"""The shape of images that a method is built for, and the side of its views."""

from counterpoint.data.source import Source
from counterpoint.framework.records import Shape

CUT = 128  # pixels; the side of ImageNet's views in the paper


def view_side(source: Source, *, size: int | None = None) -> int:
    """Return the side of the views: `size`, else that of the images, or 128 where sizes vary.

    >>> import torch
    >>> from counterpoint.data.array_source import ArraySource
    >>> images = ArraySource("some", torch.zeros(2, 3, 96, 96, dtype=torch.uint8))
    >>> view_side(images), view_side(images, size=64)
    (96, 64)
    """
    if size is not None:
        return size
    return CUT if source.one_shape is None else source.one_shape[-1]


def image_shape(source: Source, *, size: int | None = None) -> Shape:
    """Return the shape that a method is built for: of the images, or of what they are cut to.

    Images of one shape keep it, whatever that of the views is: STL-10's 96 pixels become the
    paper's 64 in the views.

    >>> import torch
    >>> from counterpoint.data.array_source import ArraySource
    >>> images = ArraySource("some", torch.zeros(2, 3, 96, 96, dtype=torch.uint8))
    >>> image_shape(images, size=64), view_side(images, size=64)
    ((3, 96, 96), 64)
    """
    if source.one_shape is not None:
        return source.one_shape
    side = view_side(source, size=size)
    return (3, side, side)
