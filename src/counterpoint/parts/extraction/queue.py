"""More negatives from the past: a queue of the keys of earlier steps (MoCo)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from counterpoint.framework import (
    Comparison,
    Encoded,
    Extraction,
    PartError,
    Remembered,
    Samples,
    World,
)
from counterpoint.framework.contracts import BuiltExtraction
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.optional import asks_for_labels, fit_samples, held_out
from counterpoint.framework.records import NOBODY, Kept, Shape
from counterpoint.parts.extraction.dry_widths import dry_widths
from counterpoint.parts.extraction.ring import write_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Widen the candidates of another extraction by the last `size` keys of all ranks.

    Keys come from the momentum twin: a queue of vectors from an encoder that moves with every
    step would hold the past of another encoder (He et al. 2019, section 3.1).

    >>> from counterpoint.framework import ALONE
    >>> from counterpoint.parts.extraction import Keys
    >>> print(Queue(of=Keys(), size=4096))
    Keys(map=-1, pool='mean'), queue of 4,096
    >>> queue = Queue(of=Keys(), size=4).build((((2, 1, 1),), ((2, 1, 1),)))
    >>> queries, keys = ((torch.randn(3, 2, 1, 1),),), ((torch.randn(3, 2, 1, 1),),)
    >>> for _ in range(3):  # the queue fills step by step
    ...     (compared,) = queue(Encoded(queries, keys), Samples(torch.arange(3)), ALONE)
    ...     print(len(compared.remembered.vectors))
    0
    3
    4
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: Extraction
    size: int = 65_536  # facebookresearch/moco, main_moco.py, --moco-k

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PartError("extraction", got=f"size={self.size}", needs="room for one key")
        if asks_for_labels((self.of,)):
            raise PartError(
                "extraction",
                got=f"a queue of {self.of}",
                needs="positives that are not by label: keys of earlier steps have none",
                do="leave out the queue, or the labels",
            )

    @property
    def held_out(self) -> bool:
        """Whether the loss of what is inside means something on images it is not trained on."""
        return held_out(self.of)

    def for_samples(self, samples: int) -> "Queue":
        """Return the same queue around an extraction for N samples."""
        return replace(self, of=fit_samples(self.of, samples))

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "QueueExtraction":
        width = dry_widths(self.of, maps)[1]
        return QueueExtraction(self.of.build(maps), size=self.size, width=width)

    def __str__(self) -> str:
        return f"{self.of}, queue of {self.size:,}"


class QueueExtraction(nn.Module):
    """The queue as buffers, the same on all ranks, so that any rank's checkpoint has it."""

    keys: Tensor
    written: Tensor

    def __init__(self, inner: BuiltExtraction, *, size: int, width: int) -> None:
        super().__init__()
        self.inner, self.size = inner, size
        self.register_buffer("keys", torch.zeros(size, width))
        register_count(self, "written")

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        if encoded.target is encoded.online:
            raise PartError(
                "extraction",
                got="a queue behind an encoder without a momentum twin",
                needs="keys from an encoder that moves slowly",
                do="wrap the encoder: MomentumEncoder(of=..., decay=0.999)",
            )
        comparisons = self.inner(encoded, samples, world)
        widened = tuple(self.widen(comparison) for comparison in comparisons)
        for comparison in comparisons:  # after: a key is not a negative in its own step
            self.push(comparison, world)
        return widened

    def widen(self, comparison: Comparison) -> Comparison:
        """Put the queue behind the candidates; every rank has all of it."""
        queued = self.keys if self.keys.is_meta else self.keys[: count_of(self, "written")]
        old = queued.to(comparison.candidates, copy=True)  # the buffer is about to change
        nobody = torch.full((len(old),), NOBODY, device=comparison.candidate_identity.device)
        return replace(comparison, remembered=Remembered(old, nobody))

    @torch.no_grad()
    def push(self, comparison: Comparison, world: World) -> None:
        """Write the keys of all ranks over the oldest ones."""
        if not self.training:
            return
        kept = comparison.kept or Kept(
            comparison.candidates, comparison.candidate_identity, comparison.everyone
        )
        given = kept.vectors.detach(), kept.identity, kept.everyone
        newest = world.gather(*given).vectors[-self.size :].to(self.keys)
        if self.keys.is_meta:
            return
        write_over(self.keys, newest, count_of(self, "written"))
        add_to(self, "written", len(newest))
