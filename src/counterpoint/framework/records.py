"""One frozen record per arrow of the picture: x -> v -> M -> Comparison -> s -> L."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from counterpoint.framework.batch_samples import Index as Index
from counterpoint.framework.batch_samples import Samples
from counterpoint.framework.errors import PartError
from counterpoint.framework.world import Everyone, Slices

Images = UInt8[Tensor, "batch channel height width"]
"""x: what the data gives; bytes until the device."""

Cuts = tuple[UInt8[Tensor, "batch channel _ _"], ...]
"""What is cut out of pictures for each view; views may differ in size."""

View = Float[Tensor, "batch ..."]
"""v: (b, c, h, w), or a grid of patches (b, p, p, c, q, q)."""

Maps = tuple[Float[Tensor, "batch _ _ _"], ...]
"""M: the feature maps of one view, shallow to deep; `maps[-1]` is the last."""

Shape = tuple[int, ...]
"""The shape of one image, view or map, without the batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Where randomness comes from: every number of a view is a function of these.

    >>> draw = Draw(seed=0, epoch=2, index=torch.tensor([7, 3, 5]))
    >>> draw.some(2).index
    tensor([7, 3])
    """

    seed: int
    epoch: int
    index: Index

    def some(self, count: int) -> "Draw":
        """Take the first samples."""
        return Draw(self.seed, self.epoch, self.index[:count])


@runtime_checkable
class Picture(Protocol):
    """An image that is not decoded yet; its size is that of the image as people see it."""

    @property
    def height(self) -> int: ...

    @property
    def width(self) -> int: ...

    def decode(self, scale: float, /) -> UInt8[Tensor, "channel height width"]:
        """Return the pixels, perhaps fewer, but at least `scale` of them in each direction."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The feature maps of every view, by the encoder and by its momentum twin.

    Without a twin, `target` is `online`: the same object.

    >>> maps = (torch.zeros(2, 8, 4, 4),), (torch.zeros(2, 8, 4, 4),)  # of two views
    >>> encoded = Encoded(maps, maps)
    >>> encoded.target is encoded.online
    True
    """

    online: tuple[Maps, ...]
    target: tuple[Maps, ...]


NOBODY = -1
"""The identity of a candidate that no anchor has: a negative of every anchor."""


def only_positive(index: Index) -> Index:
    """Return identities for candidates that are positives of their own anchors, and nothing else.

    >>> import torch
    >>> only_positive(torch.tensor([0, 7]))
    tensor([-2, -9])
    """
    return NOBODY - 1 - index


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """Candidates from the past (a queue, a bank), the same on every rank.

    >>> queue = Remembered(torch.zeros(3, 8), torch.full((3,), NOBODY))  # negatives of everyone
    >>> queue.identity
    tensor([-1, -1, -1])
    """

    vectors: Float[Tensor, "remembered _"]
    identity: Int64[Tensor, " remembered"]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a queue keeps of a step, where that is not its candidates.

    >>> kept = Kept(torch.zeros(3, 8), torch.arange(3))
    >>> tuple(kept.vectors.shape)
    (3, 8)
    """

    vectors: Float[Tensor, "kept _"]
    identity: Int64[Tensor, " kept"]
    everyone: Everyone | None = None
    """The identities of all ranks, as in a comparison."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Anchors, candidates and their identities (r^a, R^+ and R^-, in memory linear in n + m).

    A candidate is a positive of an anchor when their identities are equal, a negative when
    they differ, and left out when it is the anchor itself: candidate `itself + i` is anchor i.
    A candidate whose identity is `only_positive` is nobody's negative.

    Keep identities on the host, where the sample numbers are: which pairs are positive is then
    worked out while the device is busy. If they are on the device, the host waits to read them.

    >>> z, image = torch.randn(4, 8), torch.tensor([0, 1, 0, 1])  # two views of two images
    >>> both = Comparison(
    ...     anchors=z, candidates=z, anchor_identity=image, candidate_identity=image, itself=0
    ... )
    >>> (both.anchor_identity[:, None] == both.candidate_identity).sum(dim=1) - 1  # positives
    tensor([1, 1, 1, 1])
    """

    anchors: Float[Tensor, "anchor _"]
    candidates: Float[Tensor, "candidate _"]
    anchor_identity: Int64[Tensor, " anchor"]
    candidate_identity: Int64[Tensor, " candidate"]
    itself: int | None = None
    """The position of anchor 0 among the candidates; None when no anchor is a candidate."""
    weight: float = 1.0
    """What this comparison counts in the sum over all comparisons."""
    everyone: Everyone | None = None
    """The identities of all ranks' candidates, `world.everyone(identify)`; None asks the ranks."""
    remembered: Remembered | None = None
    """More candidates, behind those of the ranks and not gathered: every rank has them."""
    kept: Kept | None = None
    """What a queue keeps of this comparison; None keeps the candidates."""
    anchor_views: tuple[int, ...] = ()
    """How many anchors are of each view, where they stand view after view; else empty."""
    candidate_views: tuple[int, ...] = ()
    """The same of the candidates."""
    progress: float = 0.0
    """The share of all updates that are done; `contrast` sets it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scores:
    """Phi of every anchor with every candidate, as two small matrices: never the n x m one.

    s_ij = squash(<anchors_i, candidates_j>), where p, q and the temperature are already in
    the vectors, and the candidates of all ranks are already gathered.

    >>> scores = Scores(
    ...     anchors=torch.eye(2), candidates=2 * torch.eye(2),
    ...     anchor_identity=torch.arange(2), candidate_identity=torch.arange(2),
    ... )
    >>> scores.anchors @ scores.candidates.T
    tensor([[2., 0.],
            [0., 2.]])
    """

    anchors: Float[Tensor, "anchor channel"]
    candidates: Float[Tensor, "candidate channel"]
    anchor_identity: Int64[Tensor, " anchor"]
    candidate_identity: Int64[Tensor, " candidate"]
    itself: int | None = None
    shared: bool = False
    """Candidates from `itself` on are the anchors: the same vectors, perhaps with two channels
    exchanged. Scores are then symmetric, and work can be halved."""
    clip: float | None = None
    """c of the squash c tanh(s / c); None squashes nothing."""
    bound: float | None = None
    """A limit of |s| known beforehand; None where there is none."""
    anchor_views: tuple[int, ...] = ()
    """How many anchors are of each view: they stand view after view. Empty: nobody knows."""
    candidate_views: tuple[tuple[int, ...], ...] = ()
    """The same of the candidates of each rank: rank after rank, and view after view."""
    samples: Samples | None = None
    """This rank's samples, their labels and the progress of training; `contrast` sets it."""
    slices: Slices | None = None
    """The candidates of the other ranks, where they come in slices: `candidates` are then this
    rank's own and those of the past. Only a loss that says `takes_slices` is given them."""

    @property
    def columns(self) -> int:
        """How many candidates an anchor is scored with, those that come in slices included."""
        return len(self.candidates) + (0 if self.slices is None else self.slices.elsewhere)

    def anchors_by_view(self) -> tuple[Float[Tensor, "row channel"], ...]:
        """Return this rank's anchors of each view, row i being the same image in all of them."""
        _known_views(self.anchor_views)
        return tuple(self.anchors.split(list(self.anchor_views)))

    def candidates_by_view(self) -> tuple[Float[Tensor, "row channel"], ...]:
        """Return the candidates of each view, of all ranks; those of the past are left out."""
        _known_views(self.candidate_views)
        lengths = [length for rank in self.candidate_views for length in rank]
        blocks = self.candidates[: sum(lengths)].split(lengths)
        views = len(self.candidate_views[0])
        return tuple(torch.cat(blocks[view::views]) for view in range(views))


def _known_views(views: tuple[Any, ...]) -> None:
    if not views:
        raise PartError(
            "loss",
            got="rows of which nobody knows the view",
            needs="an extraction that says so",
            do="set anchor_views and candidate_views of its Comparison, as Pooled does",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """A loss before it is averaged: the sum of its terms and how many they are.

    Kept apart so that ranks with different counts still average to the loss of one process.

    >>> terms = Terms(total=torch.tensor(6.0), count=torch.tensor(4.0))
    >>> terms.total / terms.count
    tensor(1.5000)
    """

    total: Float[Tensor, ""]
    count: Float[Tensor, ""]
