"""Pictures of one size as they are: the cut of a source whose images have one shape."""

from collections.abc import Sequence

import torch

from counterpoint.data.pictures import UnreadableImageError
from counterpoint.data.source import Cut
from counterpoint.framework.records import Cuts, Draw, Picture, Shape


def whole_pictures(shape: Shape) -> Cut:
    """Return the cut that takes all of a picture; one of another shape cannot be read.

    >>> from counterpoint.data.decoded_picture import DecodedPicture
    >>> picture = DecodedPicture(torch.zeros(3, 4, 4, dtype=torch.uint8), "PNG", "RGB")
    >>> whole_pictures((3, 4, 4))([picture], Draw(0, 0, torch.arange(1)))[0].shape
    torch.Size([1, 3, 4, 4])
    """
    channels = shape[0]

    def cut(pictures: Sequence[Picture], _draw: Draw) -> Cuts:
        found = []
        for picture in pictures:
            if (picture.height, picture.width) != tuple(shape[1:]):
                raise UnreadableImageError(
                    f"{getattr(picture, 'name', 'an image')}: {picture.width} x {picture.height} "
                    f"pixels among images of {shape[2]} x {shape[1]}",
                    "not an image",
                )
            found.append(picture.decode(1.0)[:channels])
        return (torch.stack(found),)

    return cut
