"""Dot products: plain, scaled and clipped, and with a learned matrix."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from counterpoint.framework import PartError
from counterpoint.parts.similarity.phi import Phi
from counterpoint.parts.similarity.temperature import Temperature
from counterpoint.parts.similarity.widths import refuse_other_width


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
        refuse_other_width(anchor, candidate)
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
        refuse_other_width(anchor, candidate)
        scale, clip = Temperature(anchor**0.5), self.clip
        return Phi(nn.Identity(), scale=scale, clip=clip, bound=clip, cosine=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bilinear:
    """A learned form, a^T W b (section 2, part 4); anchors and candidates may differ in width.

    >>> Bilinear().build(8, 16).p
    Linear(in_features=8, out_features=16, bias=False)
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    def build(self, anchor: int, candidate: int) -> Phi:
        return Phi(nn.Linear(anchor, candidate, bias=False), nn.Identity())
