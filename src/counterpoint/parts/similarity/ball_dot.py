"""The dot product of vectors that stay inside a ball."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.precision import at_least_fp32
from counterpoint.parts.similarity.phi import Phi
from counterpoint.parts.similarity.widths import refuse_other_width


@dataclass(frozen=True, slots=True, kw_only=True)
class BallDot:
    r"""The dot product of vectors that are at most $\sqrt\mu$ long (HaoChen et al. 2021).

    $$ \Phi(a, b) = \langle p(a), p(b) \rangle, \quad
       p(z) = z \min(1, \sqrt\mu / \lVert z \rVert) $$

    A vector inside the ball keeps its length, unlike in a cosine.

    >>> phi = BallDot(mu=4.0).build(2, 2)
    >>> phi.p(torch.tensor([[3.0, 4.0], [0.3, 0.4]]))
    tensor([[1.2000, 1.6000],
            [0.3000, 0.4000]])
    """

    part: ClassVar[Literal["similarity"]] = "similarity"

    mu: float = 1.0  # spectral_contrastive_learning, configs/..._cifar10_lr003_mu1.yaml

    def __post_init__(self) -> None:
        if not self.mu > 0:
            raise PartError("similarity", got=f"mu={self.mu}", needs="mu > 0")

    def build(self, anchor: int, candidate: int) -> Phi:
        refuse_other_width(anchor, candidate)
        return Phi(Ball(self.mu**0.5), bound=self.mu, cosine=False)


class Ball(nn.Module):
    """Shorten vectors that are longer than a radius, in fp32 at least."""

    def __init__(self, radius: float) -> None:
        super().__init__()
        self.radius = radius

    def forward(self, vectors: Float[Tensor, "vector channel"]) -> Float[Tensor, "vector channel"]:
        wide = at_least_fp32(vectors)
        length = torch.linalg.vector_norm(wide, dim=1, keepdim=True)
        inside: Tensor = wide / (length / self.radius).clamp(min=1)
        return inside
