"""A trained encoder as an ordinary module: views in, one vector per image out."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from counterpoint.evaluation.representation import Representation
from counterpoint.framework.records import View


class PooledEncoder(nn.Module):
    """An encoder and the pooling behind it, to be trained further with a head of one's own.

    Its input are the views of `run.transform`; it computes what `run.embed` does, in the mode of
    the module, and gradients flow.
    """

    def __init__(self, representation: Representation) -> None:
        super().__init__()
        self.encoder = representation.encoder
        self._pool = representation.encoded
        self.width = self._width(representation)
        """The length of a vector."""

    def forward(self, *views: View) -> Float[Tensor, "batch feature"]:
        return self._pool(views)

    @torch.no_grad()
    def _width(self, representation: Representation) -> int:
        shapes = representation.model.views.evaluation.shapes
        training = self.encoder.training
        self.encoder.eval()
        vectors = self._pool(
            tuple(torch.zeros(1, *s, device=representation.device) for s in shapes)
        )
        self.encoder.train(training)
        return vectors.shape[1]
