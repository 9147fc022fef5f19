"""What is evaluated and exported: the evaluation view, the encoder and a pooling, together."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from counterpoint.data.progress import tracked
from counterpoint.framework.model import Model
from counterpoint.framework.momentum import Momentum
from counterpoint.framework.records import Draw


@dataclass(frozen=True, slots=True, eq=False)
class Representation:
    """Images in, one vector per image out; every probe and every export goes through here."""

    model: Model
    map: int = -1
    """Which feature map; -1 is the last."""

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder, never its momentum twin."""
        encoder = self.model.encoder
        trained = encoder.online if isinstance(encoder, Momentum) else encoder
        assert isinstance(trained, nn.Module)
        return trained

    @torch.inference_mode()
    def __call__(
        self, images: UInt8[Tensor, "sample channel height width"], *, batch: int = 500
    ) -> Float[Tensor, "sample feature"]:
        """Embed images, globally averaged, so that all methods are probed alike."""
        training = self.encoder.training
        self.encoder.eval()
        try:
            parts = [self._one(part) for part in tracked(images.split(batch), "embedding")]
        finally:
            self.encoder.train(training)
        return torch.cat(parts)

    def _one(self, images: Tensor) -> Tensor:
        nothing = torch.zeros(len(images), dtype=torch.int64, device=images.device)
        views = self.model.views.evaluation(images, Draw(0, 0, nothing))
        pooled = [maps[self.map].mean(dim=(2, 3)) for maps in self.encoder(views)]
        return torch.cat(pooled, dim=1).float()
