"""One image for a shard: its bytes as they are, after they were decoded once as a check."""

import io

from PIL import Image

from counterpoint.data.decoded_picture import StoredPixels
from counterpoint.data.pictures import StoredFile, UnreadableImageError
from counterpoint.data.shards.tar_writer import Record
from counterpoint.data.source import Source, StoredImage

LOOK = 0.01  # of each side: a JPEG is read to its end, and few of its pixels are made


def checked_record(
    source: Source, sample: int, name: str, label: int | None
) -> tuple[Record, tuple[int, int]]:
    """Read an image and decode it; return its record, and its height and width.

    What cannot be decoded is an `UnreadableImageError`. Pixels in memory become a PNG.
    """
    if sample in source.bad:
        raise UnreadableImageError(f"{name}: known to be bad", source.bad[sample])
    stored = as_file(source.stored(sample).loaded(), name)
    picture = stored.picture()
    picture.decode(LOOK)
    record = Record(stored.content, picture.form, name, label)
    return record, (picture.height, picture.width)


def as_file(stored: StoredImage, name: str) -> StoredImage:
    """Return an image as the bytes of a file; pixels are written as a PNG."""
    if not isinstance(stored, StoredPixels):
        return stored
    pixels = stored.pixels.permute(1, 2, 0).contiguous().numpy()
    if pixels.shape[2] not in (1, 3):
        raise ValueError(
            f"shard: {name} has {pixels.shape[2]} channels; needs 1 or 3, which a PNG can hold"
        )
    file = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(file, "PNG")
    return StoredFile(file.getvalue(), name)
