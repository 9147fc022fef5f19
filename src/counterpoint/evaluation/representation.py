"""What is evaluated and exported: the evaluation view, the encoder and a pooling, together."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor, nn

from counterpoint.data import Source
from counterpoint.data.batch import Batch
from counterpoint.data.conversion import one_split
from counterpoint.evaluation.loading import read_all
from counterpoint.evaluation.placing import device_of, dtype_of
from counterpoint.framework.contracts import BuiltEncoder, BuiltViews
from counterpoint.framework.model import views_of_batch
from counterpoint.framework.optional import probe_of, trained
from counterpoint.framework.records import Draw, Index, View

Bytes = UInt8[Tensor, "sample channel height width"]


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """The vectors of the images that could be read, on the CPU, and which images those are."""

    vectors: Float[Tensor, "sample feature"]
    index: Int64[Tensor, " sample"]
    """Their numbers in the source."""


@runtime_checkable
class ViewsAndEncoder(Protocol):
    """What is embedded with: a whole model, or an encoder that was exported without the rest."""

    @property
    def views(self) -> BuiltViews: ...

    @property
    def encoder(self) -> BuiltEncoder | nn.Module: ...


@dataclass(frozen=True, slots=True, eq=False)
class Representation:
    """Images in, one vector per image out; every probe and every export goes through here.

    Views are made and encoded where the encoder is; what was found is collected on the CPU.

    >>> from counterpoint import simclr_small
    >>> represent = Representation(simclr_small().build(image=(3, 16, 16)))
    >>> represent(torch.zeros(4, 3, 16, 16, dtype=torch.uint8)).shape
    torch.Size([4, 256])
    """

    model: ViewsAndEncoder
    map: int | None = None
    """Which feature map, -1 is the last; None takes the last before a projection head."""

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder, never its momentum twin."""
        return trained(self.model.encoder)

    @property
    def device(self) -> torch.device:
        """Where the encoder is."""
        return device_of(self.encoder)

    def __call__(
        self, images: Any, *, batch: int = 500, workers: int | None = None
    ) -> Float[Tensor, "sample _"]:
        """Embed images, globally averaged, so that all methods are probed alike.

        They may be anything that `as_source` takes, but for a data set with splits: say which
        (`open_data(path).test`). `workers` read files. The vector of an image that cannot be read
        is nan.
        """
        source = one_split(images)
        found = self.readable(source, batch=batch, workers=workers)
        if len(found.index) == len(source):
            return found.vectors
        whole = torch.full((len(source), found.vectors.shape[1]), torch.nan)
        whole[found.index] = found.vectors
        return whole

    @torch.inference_mode()
    def readable(self, source: Source, *, batch: int = 500, workers: int | None = None) -> Embedded:
        """Embed the images of a source that can be read; none stands in for another."""
        training = self.encoder.training
        self.encoder.eval()
        vectors, numbers = [], []
        try:
            quiet = self.model.views.evaluation
            for found in read_all(source, quiet.cut, batch=batch, workers=workers):
                vectors.append(self.of_batch(found).cpu())
                numbers.append(found.index)
        finally:
            self.encoder.train(training)
        if not vectors:
            raise ValueError(
                f"evaluation: none of {len(source):,} images can be read; "
                "counterpoint doctor lists what is broken"
            )
        return Embedded(torch.cat(vectors), torch.cat(numbers))

    def of_batch(self, found: Batch) -> Float[Tensor, "sample _"]:
        """Embed images that were read, where the encoder is."""
        there = found.to(self.device).images
        quiet = self.model.views.evaluation
        return self.encoded(views_of_batch(quiet, there, self._draw(found.index)))

    def vectors(self, images: Bytes) -> Float[Tensor, "sample _"]:
        """Embed images in memory as the encoder is now, and where it is; the gradient flows."""
        return self.encoded(self._seen(images, torch.arange(len(images))))

    def encoded(self, views: tuple[View, ...]) -> Float[Tensor, "sample _"]:
        """Encode views and average the probed map; several views are put together."""
        probe = probe_of(self.encoder) if self.map is None else self.map
        precision = dtype_of(self.encoder)
        seen = tuple(view.to(precision) for view in views)
        found = self.encoder(seen)
        count = len(found[0])
        if not -count <= probe < count:
            raise ValueError(
                f"evaluation: got map {probe}; the encoder has {count}: "
                f"0 to {count - 1}, or -1 for the last"
            )
        pooled = [maps[probe].mean(dim=(2, 3)) for maps in found]
        return torch.cat(pooled, dim=1).float()

    def _seen(self, images: Bytes, index: Index) -> tuple[View, ...]:
        there = images.to(self.device, non_blocking=True)
        return self.model.views.evaluation(there, self._draw(index))

    def _draw(self, index: Index) -> Draw:
        return Draw(0, 0, index.to(self.device, non_blocking=True))
