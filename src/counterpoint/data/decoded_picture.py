"""Images that are pixels already: in memory, or as a dataset gives them."""

from dataclasses import dataclass

from jaxtyping import UInt8
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class DecodedPicture:
    """A picture that needs no decoding."""

    pixels: UInt8[Tensor, "channel height width"]
    form: str
    mode: str

    @property
    def height(self) -> int:
        return self.pixels.shape[-2]

    @property
    def width(self) -> int:
        return self.pixels.shape[-1]

    @property
    def nbytes(self) -> int:
        return self.pixels.numel()

    def decode(self, _scale: float) -> UInt8[Tensor, "channel height width"]:
        return self.pixels


@dataclass(frozen=True, slots=True, eq=False)
class StoredPixels:
    """Pixels, where a file would be bytes."""

    pixels: UInt8[Tensor, "channel height width"]
    form: str
    mode: str

    @property
    def content(self) -> bytes:
        return self.pixels.contiguous().numpy().tobytes()

    def picture(self) -> DecodedPicture:
        return DecodedPicture(self.pixels, self.form, self.mode)

    def loaded(self) -> "StoredPixels":
        return self
