"""Cosines over a temperature: plain, behind a projection head, and behind a predictor."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import PartError
from counterpoint.framework.codec import LATER
from counterpoint.parts.heads import LastNorm, perceptron
from counterpoint.parts.similarity.phi import Phi, Unit
from counterpoint.parts.similarity.temperature import Temperature
from counterpoint.parts.similarity.widths import refuse_other_width


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
        refuse_other_width(anchor, candidate)
        return _cosine(Unit(), self.tau, learn_tau=self.learn_tau)


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
    section 2.1). A tuple has a hidden layer for each width; () has none: one linear map."""
    out: int = 128  # google-research/simclr, run.py, --proj_out_dim
    tau: float = 0.5  # google-research/simclr, README, CIFAR-10 command
    learn_tau: bool = False
    """Let tau be trained; `tau` is where it starts."""
    last_norm: LastNorm = field(default="none", metadata=LATER)
    """Batch norm behind the last layer: google-research/simclr has one ("affine"), which the paper
    does not mention."""

    def __post_init__(self) -> None:
        _positive_tau(self.tau)
        if min((self.out, *self._hidden(1))) < 1:
            raise PartError(
                "similarity",
                got=f"hidden={self.hidden}, out={self.out}",
                needs="widths of 1 or more",
            )

    def build(self, anchor: int, candidate: int) -> Phi:
        refuse_other_width(anchor, candidate)
        widths = (anchor, *self._hidden(anchor), self.out)
        head = perceptron(widths, norm=True, bias=False, last_norm=self.last_norm)
        return _cosine(nn.Sequential(head, Unit()), self.tau, learn_tau=self.learn_tau)

    def _hidden(self, width: int) -> tuple[int, ...]:
        hidden = width if self.hidden is None else self.hidden
        return hidden if isinstance(hidden, tuple) else (hidden,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedCosine:
    r"""BYOL's measure: a predictor on one side only, then cosine over tau (Grill et al. 2020).

    $$ \Phi(a, b) = \cos(h(a), b) / \tau $$

    >>> phi = PredictedCosine(hidden=16).build(8, 8)
    >>> len(list(phi.p.parameters())) > 0, len(list(phi.q.parameters()))
    (True, 0)
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    hidden: int = 4096  # Grill et al. 2020, section 3.2
    tau: float = field(default=1.0, metadata=LATER)
    """1 is BYOL's and SimSiam's, whose loss needs a plain cosine."""
    side: Literal["anchor", "candidate"] = field(default="anchor", metadata=LATER)
    """Which side the predictor is on. On the candidates it is NNCLR's: cos(a, h(b)) / tau."""

    def __post_init__(self) -> None:
        _positive_tau(self.tau)

    def build(self, anchor: int, candidate: int) -> Phi:
        widths = (anchor, candidate) if self.side == "anchor" else (candidate, anchor)
        predictor = perceptron((widths[0], self.hidden, widths[1]), norm=True, inplace=True)
        maps = nn.Sequential(predictor, Unit()), Unit()
        p, q = maps if self.side == "anchor" else reversed(maps)
        return Phi(p, q, scale=Temperature(self.tau), bound=1 / self.tau)


def _cosine(unit: nn.Module, tau: float, *, learn_tau: bool) -> Phi:
    """Score unit vectors over tau; a learned tau has no bound that is known beforehand."""
    bound = None if learn_tau else 1 / tau
    return Phi(unit, scale=Temperature(tau, learn=learn_tau), bound=bound)


def _positive_tau(tau: float) -> None:
    if not tau > 0:
        raise PartError("similarity", got=f"tau={tau}", needs="tau > 0", do="0.5 is SimCLR's")
