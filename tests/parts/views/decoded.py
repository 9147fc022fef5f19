"""Pictures for tests of what is cut out of them."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Decoded:
    """A picture that needs no decoding."""

    pixels: torch.Tensor

    @property
    def height(self):
        return self.pixels.shape[-2]

    @property
    def width(self):
        return self.pixels.shape[-1]

    def decode(self, _scale):
        return self.pixels
