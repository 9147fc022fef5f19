"""The nearest vector of the past takes the place of an anchor (NNCLR)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from counterpoint.framework import Comparison, Encoded, Extraction, PartError, Samples, World
from counterpoint.framework.contracts import BuiltExtraction
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.optional import fit_samples, held_out
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import Shape
from counterpoint.parts.extraction.dry_widths import dry_widths
from counterpoint.parts.extraction.ring import write_over

AREA = 1 << 22  # scores that are held at once: 16 MB of fp32


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestAnchors:
    r"""Another extraction in which each anchor is replaced by its nearest vector of the past.

    $$ NN(z, Q) = \arg\max_{q \in Q} \cos(z, q) $$

    Q are the last `size` anchors of the first comparison, of all ranks (Dwibedi et al. 2021,
    algorithm 1). The anchor keeps its identity: the candidate of its image is its positive. No
    gradient flows into an anchor. In the first step, when Q is empty, it is its own neighbour.

    >>> from counterpoint.framework import ALONE
    >>> from counterpoint.parts.extraction import Compare
    >>> print(NearestAnchors(of=Compare.parse("(-1:-1)"), size=4096))
    (-1:-1), one place, anchors by their nearest of 4,096
    >>> settings = NearestAnchors(of=Compare.parse("(-1:-1)"), size=6)
    >>> nearest = settings.build((((4, 1, 1),), ((4, 1, 1),)))
    >>> views = tuple((torch.randn(3, 4, 1, 1),) for _ in range(2))
    >>> for _ in range(2):
    ...     first, second = nearest(Encoded(views, views), Samples(torch.arange(3)), ALONE)
    >>> torch.allclose(first.anchors, F.normalize(views[0][0].flatten(1), dim=1))  # seen before
    True
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    of: Extraction
    size: int = 98_304  # Dwibedi et al. 2021, section 4.1

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PartError("extraction", got=f"size={self.size}", needs="room for one vector")

    @property
    def held_out(self) -> bool:
        """Whether the loss of what is inside means something on images it is not trained on."""
        return held_out(self.of)

    def for_samples(self, samples: int) -> "NearestAnchors":
        """Return the same around an extraction for N samples."""
        return replace(self, of=fit_samples(self.of, samples))

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "NearestAnchorsExtraction":
        width = dry_widths(self.of, maps)[0]
        return NearestAnchorsExtraction(self.of.build(maps), size=self.size, width=width)

    def __str__(self) -> str:
        return f"{self.of}, anchors by their nearest of {self.size:,}"


class NearestAnchorsExtraction(nn.Module):
    """The support set as buffers, the same on all ranks, so that any rank's checkpoint has it."""

    support: Tensor
    written: Tensor

    def __init__(self, inner: BuiltExtraction, *, size: int, width: int) -> None:
        super().__init__()
        self.inner, self.size = inner, size
        self.register_buffer("support", torch.zeros(size, width))
        register_count(self, "written")

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        comparisons = self.inner(encoded, samples, world)
        found = tuple(self._replaced(comparison) for comparison in comparisons)
        self._push(comparisons[0], samples, world)  # after: no vector is its own neighbour
        return found

    @torch.no_grad()
    def _replaced(self, comparison: Comparison) -> Comparison:
        """Return the comparison with the nearest of the support set for each anchor."""
        anchors = at_least_fp32(comparison.anchors.detach())
        known = 0 if self.support.is_meta else count_of(self, "written")
        support = self.support[:known].to(anchors)
        if len(support):
            with without_autocast(anchors.device):
                anchors = support[nearest_row(F.normalize(anchors, dim=1), support)]
        return replace(comparison, anchors=anchors)

    @torch.no_grad()
    def _push(self, comparison: Comparison, samples: Samples, world: World) -> None:
        """Write the vectors of all ranks over the oldest ones."""
        if not self.training:
            return
        own = F.normalize(at_least_fp32(comparison.anchors.detach()), dim=1)
        each = len(own) // len(samples)
        everyone = world.everyone(lambda samples: samples.index.repeat(each))
        newest = world.gather(own, comparison.anchor_identity, everyone).vectors[-self.size :]
        if self.support.is_meta:
            return
        write_over(self.support, newest.to(self.support), count_of(self, "written"))
        add_to(self, "written", len(newest))


def nearest_row(
    vectors: Float[Tensor, "vector channel"], rows: Float[Tensor, "row channel"]
) -> Int64[Tensor, " vector"]:
    """Return which row has the largest dot product with each vector, some rows at a time.

    >>> nearest_row(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0], [0.9, 0.1]]))
    tensor([1])
    """
    height = max(1, AREA // max(1, len(vectors)))
    best = vectors.new_full((len(vectors),), -torch.inf)
    place = torch.zeros(len(vectors), dtype=torch.int64, device=vectors.device)
    for start in range(0, len(rows), height):
        score, where = (vectors @ rows[start : start + height].mT).max(dim=1)
        place = torch.where(score > best, where + start, place)
        best = torch.maximum(best, score)
    return place
