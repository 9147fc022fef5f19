"""Part (4), Phi(a, b) = squash(<p(a), q(b)>).

`p` and `q` act on single vectors, the squash on the scalar. So all quadratic work is one
matrix product with an elementwise function, and what crosses the network is q(b), which is
small.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from counterpoint.framework import ALONE, Comparison, Everyone, PartError, Scores, World
from counterpoint.framework.codec import LATER
from counterpoint.framework.precision import at_least_fp32
from counterpoint.parts.heads import LastNorm, perceptron
from counterpoint.parts.temperature import Temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """The dot product, a . b (AMDIM and YADIM in the paper)."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    def build(self, anchor: int, candidate: int) -> "Phi":
        _same_width(anchor, candidate)
        return Phi(nn.Identity())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledDot:
    """AMDIM's score in its authors' code, c tanh(a . b / (sqrt(d) c))."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    clip: float | None = 20.0  # amdim-public, train.py, --tclip
    """c: scores stay within +-c; None does not clip."""

    def __post_init__(self) -> None:
        if self.clip is not None and self.clip <= 0:
            raise PartError("similarity", got=f"clip={self.clip}", needs="clip > 0 or None")

    def build(self, anchor: int, candidate: int) -> "Phi":
        _same_width(anchor, candidate)
        return Phi(nn.Identity(), scale=Temperature(anchor**0.5), clip=self.clip, bound=self.clip)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine:
    """Cosine over a temperature, cos(a, b) / tau."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    tau: float = 0.5
    learn_tau: bool = False
    """Let tau be trained; `tau` is where it starts."""

    def __post_init__(self) -> None:
        _positive_tau(self.tau)

    def build(self, anchor: int, candidate: int) -> "Phi":
        _same_width(anchor, candidate)
        return _cosine(Unit(), self.tau, learn_tau=self.learn_tau)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bilinear:
    """A learned form, a^T W b (section 2, part 4); anchors and candidates may differ in width."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    def build(self, anchor: int, candidate: int) -> "Phi":
        return Phi(nn.Linear(anchor, candidate, bias=False), nn.Identity())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedCosine:
    """SimCLR's measure: a projection head, then cosine over tau (section 2.3, part 4)."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    hidden: int | tuple[int, ...] | None = None
    """Width of the hidden layer; None takes the width of the representation (Chen et al. 2020,
    section 2.1). A tuple has a hidden layer for each width."""
    out: int = 128  # google-research/simclr, run.py, --proj_out_dim
    tau: float = 0.5  # google-research/simclr, README, CIFAR-10 command
    learn_tau: bool = False
    """Let tau be trained; `tau` is where it starts."""
    last_norm: LastNorm = field(default="none", metadata=LATER)
    """Batch norm behind the last layer: google-research/simclr has one ("affine"), which the paper
    does not mention."""

    def __post_init__(self) -> None:
        _positive_tau(self.tau)
        if min(self.out, *self._hidden(1)) < 1:
            raise PartError(
                "similarity",
                got=f"hidden={self.hidden}, out={self.out}",
                needs="widths of 1 or more",
            )

    def build(self, anchor: int, candidate: int) -> "Phi":
        _same_width(anchor, candidate)
        widths = (anchor, *self._hidden(anchor), self.out)
        head = perceptron(widths, norm=True, bias=False, last_norm=self.last_norm)
        return _cosine(nn.Sequential(head, Unit()), self.tau, learn_tau=self.learn_tau)

    def _hidden(self, width: int) -> tuple[int, ...]:
        hidden = width if self.hidden is None else self.hidden
        return hidden if isinstance(hidden, tuple) else (hidden,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedCosine:
    """BYOL's measure: a predictor on the anchor only, then cosine (Grill et al. 2020)."""

    part: ClassVar[Literal["similarity"]] = "similarity"

    hidden: int = 4096  # Grill et al. 2020, section 3.2

    def build(self, anchor: int, candidate: int) -> "Phi":
        predictor = perceptron((anchor, self.hidden, candidate), norm=True, inplace=True)
        return Phi(nn.Sequential(predictor, Unit()), Unit(), bound=1.0)


class Phi(nn.Module):
    """A built similarity: p, q (None: the same as p), a scale and a clip."""

    def __init__(
        self,
        p: nn.Module,
        q: nn.Module | None = None,
        *,
        scale: Temperature | None = None,
        clip: float | None = None,
        bound: float | None = None,
    ) -> None:
        super().__init__()
        self.p, self.q = p, q
        self.scale = scale or Temperature(1.0)
        self.clip, self.bound = clip, bound
        head = p if q is None else q
        self.learned = any(True for _ in head.parameters())

    def forward(self, comparison: Comparison, world: World) -> Scores:
        if self.learned:  # a head sees each remembered vector once, as in one process
            comparison = among_ranks(comparison, world)
        anchors = at_least_fp32(self.p(comparison.anchors))
        scale = self.scale()
        q = self.p if self.q is None else self.q
        shared = self.q is None and comparison.anchors is comparison.candidates
        if shared:
            # One run of the head. Half of the scale on each side keeps them the same vectors.
            anchors = candidates = anchors * scale**0.5
        else:
            anchors, candidates = anchors * scale, at_least_fp32(q(comparison.candidates))
        slices = world.slices(candidates, comparison.everyone)
        reach = world if slices is None else ALONE  # those of the others come later
        gathered = reach.gather(candidates, comparison.candidate_identity, comparison.everyone)
        vectors, identity, past = gathered.vectors, gathered.identity, comparison.remembered
        if past is not None:
            old = at_least_fp32(q(past.vectors))
            vectors = torch.cat([vectors, old * scale**0.5 if shared else old])
            identity = torch.cat([identity, past.identity.to(identity.device)])
        return Scores(
            anchors=anchors,
            candidates=vectors,
            anchor_identity=comparison.anchor_identity,
            candidate_identity=identity,
            itself=None if comparison.itself is None else gathered.start + comparison.itself,
            shared=shared,
            clip=self.clip,
            bound=self.bound,
            anchor_views=comparison.anchor_views,
            candidate_views=gathered.views(comparison.candidate_views),
            slices=slices,
        )


def among_ranks(comparison: Comparison, world: World) -> Comparison:
    """Divide what is remembered among the ranks, as candidates that they then gather."""
    past = comparison.remembered
    if past is None:
        return comparison
    vectors, identities = (t.tensor_split(world.size) for t in (past.vectors, past.identity))
    own = comparison.candidate_identity, identities[world.rank].to(comparison.candidate_identity)
    everyone = comparison.everyone
    if everyone is not None:
        each = zip(everyone.identity.split(everyone.sizes), identities, strict=True)
        parts = [torch.cat(pair) for pair in each]
        everyone = Everyone(torch.cat(parts), tuple(map(len, parts)))
    return replace(
        comparison,
        candidates=torch.cat([comparison.candidates, vectors[world.rank]]),
        candidate_identity=torch.cat(own),
        everyone=everyone,
        remembered=None,
        candidate_views=(),
    )


class Unit(nn.Module):
    """Scale each vector to length one, in fp32 at least."""

    def forward(self, vectors: Float[Tensor, "vector channel"]) -> Float[Tensor, "vector channel"]:
        return F.normalize(at_least_fp32(vectors), dim=1)


def _cosine(unit: nn.Module, tau: float, *, learn_tau: bool) -> Phi:
    """Score unit vectors over tau; a learned tau has no bound that is known beforehand."""
    bound = None if learn_tau else 1 / tau
    return Phi(unit, scale=Temperature(tau, learn=learn_tau), bound=bound)


def _same_width(anchor: int, candidate: int) -> None:
    if anchor != candidate:
        raise PartError(
            "similarity",
            got=f"anchors of width {anchor} and candidates of width {candidate}",
            needs="one width for both",
            do="use Bilinear(), or bring them together in the extraction",
        )


def _positive_tau(tau: float) -> None:
    if not tau > 0:
        raise PartError("similarity", got=f"tau={tau}", needs="tau > 0", do="0.5 is SimCLR's")
