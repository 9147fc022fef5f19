"""An image as shuffled patches, as PIRL sees it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.parts.views.stage import Numbers, Unit


@dataclass(frozen=True, slots=True)
class Jigsaw:
    """Divide an image into n x n cells, cut a patch of q x q out of each, and shuffle the patches.

    Where in its cell a patch lies is drawn too, so that edges do not betray its neighbours (Misra
    and van der Maaten 2019, section 3.2: 3 x 3 cells of 85 pixels, patches of 64).

    >>> Jigsaw(64).shape((3, 255, 255))
    (3, 3, 3, 64, 64)
    >>> image = torch.arange(9.0).view(1, 1, 3, 3)
    >>> Jigsaw(1).rearrange(image, torch.arange(26.0, -1, -1).view(1, 27) / 27).flatten()
    tensor([8., 7., 6., 5., 4., 3., 2., 1., 0.])
    """

    q: int
    cells: int = 3
    """Cells in a row and in a column."""

    def __post_init__(self) -> None:
        if self.q < 1 or self.cells < 1:
            raise PartError(
                "views",
                got=f"patches of {self.q} in {self.cells} x {self.cells} cells",
                needs="patches of one pixel at least, and one cell at least",
            )

    @property
    def numbers(self) -> int:
        """For each patch: its place in the order, and its row and column within the cell."""
        return 3 * self.cells**2

    def shape(self, image: Shape) -> Shape:
        channels, height, width = image
        if height != width or height % self.cells or height // self.cells < self.q:
            raise PartError(
                "views",
                got=f"images {image} for {self.cells} x {self.cells} cells, patches of {self.q}",
                needs="square images that the cells fill, and patches that fit into a cell",
                do=f"a side that is a multiple of {self.cells}, from {self.cells * self.q} on",
            )
        return (self.cells, self.cells, channels, self.q, self.q)

    def rearrange(
        self, images: Unit, numbers: Numbers
    ) -> Float[Tensor, "batch n n channel {self.q} {self.q}"]:
        side = images.shape[2] // self.cells
        order, down, across = numbers.view(len(images), 3, -1).unbind(1)
        cell = order.argsort(dim=1, stable=True)  # of each patch, in the new order
        rows = self._pixels(cell // self.cells, down, side)
        columns = self._pixels(cell % self.cells, across, side)
        every = torch.arange(len(images), device=images.device)[:, None, None, None]
        # Channels come last here: (batch, patch, row, column, channel) is what is indexed.
        cut: Tensor = images.permute(0, 2, 3, 1)[every, rows[..., None], columns[:, :, None]]
        grid: Tensor = cut.permute(0, 1, 4, 2, 3).unflatten(1, (self.cells, self.cells))
        return grid.contiguous()

    def _pixels(self, cell: Tensor, drawn: Tensor, side: int) -> Tensor:
        """Return the rows, or columns, of each patch: (batch, patch, q)."""
        free = side - self.q
        start = cell * side + (drawn * (free + 1)).long().clamp(max=free)
        return start[..., None] + torch.arange(self.q, device=cell.device)

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        orders = numbers[:, : self.cells**2].argsort(dim=1, stable=True).tolist()
        return [f"order {' '.join(str(cell + 1) for cell in order)}" for order in orders]

    def __str__(self) -> str:
        return f"jigsaw of {self.cells} x {self.cells} patches {self.q}"
