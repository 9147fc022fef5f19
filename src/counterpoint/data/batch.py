"""One batch: images or cuts, the samples they are of, and what could not be read."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from counterpoint.data.quarantine import KINDS, Bad
from counterpoint.framework.records import Cuts, Images, Index


class Batch(NamedTuple):
    """Some samples, read: this rank's share of a step, or a piece of what is embedded."""

    images: Images | Cuts
    """Images of one size, or one cut per view of pictures of any size."""
    index: Index  # type: ignore[assignment]  # tuple.index is not used
    """The sample numbers."""
    bad: Int64[Tensor, "bad 2"]
    """What could not be read: sample number and place in KINDS."""

    def to(self, device: torch.device) -> "Batch":
        """Send the images to a device; the host continues, and keeps the numbers."""
        if isinstance(self.images, Tensor):
            return self._replace(images=self.images.to(device, non_blocking=True))
        cuts = tuple(cut.to(device, non_blocking=True) for cut in self.images)
        return self._replace(images=cuts)

    def pin_memory(self) -> "Batch":
        """Put the images where a CUDA device fetches them by itself, while the host continues."""
        if isinstance(self.images, Tensor):
            return self._replace(images=self.images.pin_memory())
        return self._replace(images=tuple(cut.pin_memory() for cut in self.images))


def bad_rows(bad: Sequence[Bad]) -> Int64[Tensor, "bad 2"]:
    """Write down what could not be read, as numbers: ranks exchange nothing else."""
    return torch.tensor([(b.sample, KINDS.index(b.kind)) for b in bad]).view(-1, 2).long()
