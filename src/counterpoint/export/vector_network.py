"""What is exported: one module from pixels to vectors, without views, heads or twins."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from counterpoint.export.pixel_recipe import PixelRecipe
from counterpoint.framework.optional import probe_of


class VectorNetwork(nn.Module):
    """Pixels in, one vector per image out: the global average of the encoder's last map.

    The input is normalised, or bytes where the normalisation is part of the network.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, encoder: nn.Module, recipe: PixelRecipe, *, bytes_in: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.after = recipe.after
        self.bytes_in = bytes_in
        shape = (1, recipe.channels, 1, 1)
        if bytes_in:
            self.register_buffer("mean", torch.tensor(recipe.mean).view(shape))
            self.register_buffer("std", torch.tensor(recipe.std).view(shape))

    def forward(
        self, image: Shaped[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch feature"]:
        seen: Tensor = image
        if self.bytes_in:
            seen = (image.to(torch.float32) / 255 - self.mean) / self.std
        for stage in self.after:
            seen = stage(seen)
        maps = self.encoder((seen,))[0]
        vectors: Tensor = maps[probe_of(self.encoder)].mean(dim=(2, 3))
        return vectors
