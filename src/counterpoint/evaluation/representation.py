"""What is evaluated and exported: the evaluation view, the encoder and a pooling, together."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from counterpoint.data import Files, Source
from counterpoint.data.progress import tracked
from counterpoint.framework.model import Model
from counterpoint.framework.momentum import Momentum
from counterpoint.framework.records import Draw

Bytes = UInt8[Tensor, "sample channel height width"]


@dataclass(frozen=True, slots=True, eq=False)
class Representation:
    """Images in, one vector per image out; every probe and every export goes through here."""

    model: Model
    map: int | None = None
    """Which feature map, -1 is the last; None takes the last before a projection head."""

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder, never its momentum twin."""
        encoder = self.model.encoder
        trained = encoder.online if isinstance(encoder, Momentum) else encoder
        assert isinstance(trained, nn.Module)
        return trained

    @torch.inference_mode()
    def __call__(self, images: Bytes | Files, *, batch: int = 500) -> Float[Tensor, "sample _"]:
        """Embed images, globally averaged, so that all methods are probed alike."""
        training = self.encoder.training
        self.encoder.eval()
        parts = torch.arange(len(images)).split(batch)
        try:
            found = [self.vectors(images, part) for part in tracked(parts, "embedding")]
        finally:
            self.encoder.train(training)
        return torch.cat(found)

    def vectors(self, images: Bytes | Files, index: Tensor) -> Float[Tensor, "chosen _"]:
        """Embed some images as the encoder is now; the gradient flows."""
        quiet, draw = self.model.views.evaluation, Draw(0, 0, index)
        if isinstance(images, Files):
            views = quiet.finish(quiet.cut(images.pictures(index), draw), draw)
        else:
            views = quiet(images[index], draw)
        probe = getattr(self.encoder, "probe", -1) if self.map is None else self.map
        pooled = [maps[probe].mean(dim=(2, 3)) for maps in self.encoder(views)]
        return torch.cat(pooled, dim=1).float()


def pixels(source: Source | Files) -> Bytes | Files:
    """Give what can be embedded: images in memory, or files to be read."""
    return source if isinstance(source, Files) else source.images
