"""The hardest negative of each anchor: the walk finds which candidate it is."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.parts.losses.tiled import Product, leave_out


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest negative score of each anchor so far, and the column that it is in."""

    peak: Float[Tensor, " anchor"]
    column: Int64[Tensor, " anchor"]
    """-1 where there is none."""

    @classmethod
    def start(cls, anchors: Tensor) -> "Largest":
        """Begin without a score."""
        peak = anchors.new_full((len(anchors),), -torch.inf)
        return cls(peak, torch.full((len(anchors),), -1, device=anchors.device))

    def look(self, product: Product, first: int = 0) -> None:
        """Walk once; `first` is the number of the product's first column."""
        for tile in product.walk.tiles:
            s = product.scores(tile)
            leave_out(s, tile, -torch.inf)
            self._keep(s, tile.rows, first + tile.columns.start)
            if tile.mirror is not None:
                shift = tile.columns.start - tile.mirror.start  # of own vectors among candidates
                self._keep(s.T, tile.mirror, first + tile.rows.start + shift)

    def _keep(self, scores: Tensor, rows: slice, start: int) -> None:
        """Note the scores that are higher than before; their columns are numbered from `start`.

        A place costs ten times as much as a maximum, and few anchors have a higher one in a later
        tile. The host may ask which these are if the scores are its own; of a device it may not.
        """
        peak, column, value = self.peak[rows], self.column[rows], scores.amax(dim=1)
        better = value > peak
        if scores.device.type == "cpu":
            some = better.nonzero()[:, 0]
            peak[some], column[some] = value[some], scores[some].argmax(dim=1) + start
        else:
            peak.copy_(torch.where(better, value, peak))
            column.copy_(torch.where(better, scores.argmax(dim=1) + start, column))
