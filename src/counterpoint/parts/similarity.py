"""Part (4), Phi(a, b) = squash(<p(a), q(b)>).

`p` and `q` act on single vectors, the squash on the scalar. So all quadratic work is one
matrix product with an elementwise function, and what crosses the network is q(b), which is
small.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import PartError
from counterpoint.framework.codec import LATER
from counterpoint.parts.heads import LastNorm, perceptron
from counterpoint.parts.phi import Phi as Phi
from counterpoint.parts.phi import Unit
from counterpoint.parts.temperature import Temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """The dot product, a . b (AMDIM and YADIM in the paper).

    >>> import torch
    >>> phi = Dot().build(2, 2)
    >>> phi.p(torch.tensor([[1.0, 2.0]])) @ torch.tensor([3.0, 4.0])  # p and q change nothing
    tensor([11.])
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    def build(self, anchor: int, candidate: int) -> Phi:
        _same_width(anchor, candidate)
        return Phi(nn.Identity())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledDot:
    r"""AMDIM's score in its authors' code: the dot product, scaled and clipped.

    $$ c \tanh\Big(\frac{\langle a, b \rangle}{c \sqrt{d}}\Big) $$

    >>> ScaledDot(clip=20.0).build(64, 64).bound  # |s| is at most c
    20.0
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    clip: float | None = 20.0  # amdim-public, train.py, --tclip
    """c: scores stay within +-c; None does not clip."""

    def __post_init__(self) -> None:
        if self.clip is not None and self.clip <= 0:
            raise PartError("similarity", got=f"clip={self.clip}", needs="clip > 0 or None")

    def build(self, anchor: int, candidate: int) -> Phi:
        _same_width(anchor, candidate)
        return Phi(nn.Identity(), scale=Temperature(anchor**0.5), clip=self.clip, bound=self.clip)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine:
    """Cosine over a temperature, cos(a, b) / tau.

    >>> Cosine(tau=0.1).build(64, 64).bound
    10.0
    >>> Cosine(tau=0.0)
    Traceback (most recent call last):
    counterpoint.framework.errors.PartError: similarity: got tau=0.0, needs tau > 0; 0.5 is SimCLR's
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    tau: float = 0.5
    learn_tau: bool = False
    """Let tau be trained; `tau` is where it starts."""

    def __post_init__(self) -> None:
        _positive_tau(self.tau)

    def build(self, anchor: int, candidate: int) -> Phi:
        _same_width(anchor, candidate)
        return _cosine(Unit(), self.tau, learn_tau=self.learn_tau)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bilinear:
    """A learned form, a^T W b (section 2, part 4); anchors and candidates may differ in width.

    >>> Bilinear().build(8, 16).p
    Linear(in_features=8, out_features=16, bias=False)
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    def build(self, anchor: int, candidate: int) -> Phi:
        return Phi(nn.Linear(anchor, candidate, bias=False), nn.Identity())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedCosine:
    r"""SimCLR's measure: a projection head, then cosine over tau (section 2.3, part 4).

    $$ \Phi(a, b) = \cos(g(a), g(b)) / \tau $$

    with one head g for anchors and candidates.

    >>> head, unit = ProjectedCosine(out=32).build(64, 64).p
    >>> [layer.out_features for layer in head if isinstance(layer, nn.Linear)]
    [64, 32]
    """

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

    def build(self, anchor: int, candidate: int) -> Phi:
        _same_width(anchor, candidate)
        widths = (anchor, *self._hidden(anchor), self.out)
        head = perceptron(widths, norm=True, bias=False, last_norm=self.last_norm)
        return _cosine(nn.Sequential(head, Unit()), self.tau, learn_tau=self.learn_tau)

    def _hidden(self, width: int) -> tuple[int, ...]:
        hidden = width if self.hidden is None else self.hidden
        return hidden if isinstance(hidden, tuple) else (hidden,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedCosine:
    r"""BYOL's measure: a predictor on the anchor only, then cosine (Grill et al. 2020).

    $$ \Phi(a, b) = \cos(h(a), b) $$

    >>> phi = PredictedCosine(hidden=16).build(8, 8)
    >>> len(list(phi.p.parameters())) > 0, len(list(phi.q.parameters()))
    (True, 0)
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    hidden: int = 4096  # Grill et al. 2020, section 3.2

    def build(self, anchor: int, candidate: int) -> Phi:
        predictor = perceptron((anchor, self.hidden, candidate), norm=True, inplace=True)
        return Phi(nn.Sequential(predictor, Unit()), Unit(), bound=1.0)


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
