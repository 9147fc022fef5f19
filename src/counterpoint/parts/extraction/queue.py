"""More negatives from the past: a queue of the keys of earlier steps (MoCo)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from counterpoint.framework import ALONE, Comparison, Encoded, Extraction, PartError, World
from counterpoint.framework.parts import BuiltExtraction
from counterpoint.framework.records import NOBODY, Index, Maps, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Widen the candidates of another extraction by the last `size` keys of all ranks.

    Keys come from the momentum twin: a queue of vectors from an encoder that moves with every
    step would hold the past of another encoder (He et al. 2019, section 3.1).
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: Extraction
    size: int = 65_536  # facebookresearch/moco, main_moco.py, --moco-k

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PartError("extraction", got=f"size={self.size}", needs="room for one key")

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "QueueExtraction":
        inner = self.of.build(maps)
        return QueueExtraction(inner, size=self.size, width=_key_width(inner, maps))

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
        self.register_buffer("written", torch.zeros((), dtype=torch.int64))

    def forward(self, encoded: Encoded, index: Index, world: World) -> tuple[Comparison, ...]:
        if encoded.target is encoded.online:
            raise PartError(
                "extraction",
                got="a queue behind an encoder without a momentum twin",
                needs="keys from an encoder that moves slowly",
                do="wrap the encoder: MomentumEncoder(of=..., decay=0.999)",
            )
        comparisons = self.inner(encoded, index, world)
        widened = tuple(self.widen(comparison, world) for comparison in comparisons)
        for comparison in comparisons:  # after: a key is not a negative in its own step
            self.push(comparison, world)
        return widened

    def widen(self, comparison: Comparison, world: World) -> Comparison:
        """Put this rank's share of the queue behind the candidates: the ranks gather them all."""
        queued = self.keys if self.keys.is_meta else self.keys[: int(self.written)]
        mine = queued.tensor_split(world.size)[world.rank]
        old = mine.to(comparison.candidates, copy=True)  # the buffer is about to change
        nobody = comparison.candidate_identity.new_full((len(old),), NOBODY)
        return Comparison(
            anchors=comparison.anchors,
            candidates=torch.cat([comparison.candidates, old]),
            anchor_identity=comparison.anchor_identity,
            candidate_identity=torch.cat([comparison.candidate_identity, nobody]),
            itself=comparison.itself,
            weight=comparison.weight,
        )

    @torch.no_grad()
    def push(self, comparison: Comparison, world: World) -> None:
        """Write the keys of all ranks over the oldest ones."""
        if not self.training or self.keys.is_meta:
            return
        gathered = world.gather(comparison.candidates.detach(), comparison.candidate_identity)
        newest = gathered.vectors[-self.size :].to(self.keys)
        place = (self.written + torch.arange(len(newest), device=self.keys.device)) % self.size
        self.keys[place] = newest
        self.written += len(newest)


def _key_width(inner: BuiltExtraction, maps: tuple[tuple[Shape, ...], ...]) -> int:
    """Find the width of the keys on the meta device."""

    def blank() -> tuple[Maps, ...]:
        with torch.device("meta"):
            return tuple(tuple(torch.empty(2, *shape) for shape in view) for view in maps)

    (first, *_) = inner(Encoded(blank(), blank()), torch.arange(2, device="meta"), ALONE)
    return first.candidates.shape[1]
