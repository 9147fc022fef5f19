"""How wide the vectors of an extraction are, without data."""

import torch

from counterpoint.framework import ALONE, Encoded, Extraction
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.records import Maps, Shape


def dry_widths(extraction: Extraction, maps: tuple[tuple[Shape, ...], ...]) -> tuple[int, int]:
    """Return the width of the anchors and of the candidates, found on the meta device.

    >>> from counterpoint.parts.extraction import Pooled
    >>> dry_widths(Pooled(), (((4, 2, 2),), ((4, 2, 2),)))
    (4, 4)
    """

    def blank() -> tuple[Maps, ...]:
        return tuple(tuple(torch.empty(2, *shape) for shape in view) for view in maps)

    with torch.device("meta"):
        online, target = blank(), blank()
        built = extraction.build(maps)
        (first, *_) = built(Encoded(online, target), blank_samples(2, labels=True), ALONE)
    return first.anchors.shape[1], first.candidates.shape[1]
