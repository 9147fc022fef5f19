r"""How many pairs of different images are near by chance: the law, and its fit without labels.

Around image i let $r_{(1)} \le r_{(2)} \le \dots \le r_{(k)}$ be the scaled distances to its
nearest. Different images lie around it as a Poisson process whose mean count within r grows as
$r^{\kappa_i}$, with $\kappa_i$ the local intrinsic dimension (Levina and Bickel 2005). Given the
second nearest, the nearest of them is then at a uniform place of that ball:

$$P(r_{(1)} \le \rho \mid r_{(2)}) = (\rho / r_{(2)})^{\kappa_i}$$

The second nearest is a different image even where the nearest is a copy, so that nothing needs to
know which are copies. What is nearer than half of the recorded copies is set aside before, so that
bursts of copies do not become the law; so are equal vectors, whose distances have no logarithm.

The dimension differs from image to image. With $x_j = \log(r_{(k)} / r_{(j)})$, the k - 2 distances
from the second on are a censored sample of an exponential law of rate $\kappa_i$, and
$S_i = x_2 + \sum_{j=2}^{k-1} x_j$. A Gamma(a, b) over images, fitted by maximum likelihood, gives
each image a Gamma(a + k - 2, b + S_i). At the smallest scale distances are steeper than over the
whole list, by a factor c that is fitted to the ratios $r_{(1)} / r_{(2)}$ from 0.85 to 1, where
copies are rare. So with $l = \log(r_{(2)} / \rho)$

$$P_i(\rho) = \left(\frac{b + S_i}{b + S_i + c \max(l, 0)}\right)^{a + k - 2}$$

and the expected number of chance pairs within $\rho$ is half of
$\sum_i P_i(\rho) + \#\{j \ge 2: r_{(j)} \le \rho\}$, since a pair is seen from both ends.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

LEAST = 5  # neighbours that an image needs after that to be counted
WINDOW = 0.85  # ratios of the nearest to the second that the steepness is fitted to
BOUNDS = (-6.0, 9.0)  # of the logarithms of all parameters

Numbers = Float64[Tensor, " image"]


@dataclass(frozen=True, slots=True, eq=False)
class ChanceLaw:
    """The law of one set of images: what each adds to the expected number of chance pairs."""

    anchor: Numbers
    """Distance to the second nearest."""
    spread: Numbers
    """S of each image."""
    terms: Numbers
    """How many distances S was made of."""
    rest: Float64[Tensor, "image near"]
    """All distances from the second on; infinity where there are no more."""
    shape: float
    rate: float
    steep: float

    @property
    def dimension(self) -> float:
        """The mean intrinsic dimension at the smallest scale."""
        return self.steep * self.shape / self.rate

    def pairs(self, radius: float) -> Numbers:
        """Return each image's half of the chance pairs within a radius; the sum is their number."""
        ratio = (self.anchor / radius).log().clamp(min=0)
        base = self.rate + self.spread
        nearest = (base / (base + self.steep * ratio)) ** (self.shape + self.terms)
        pairs: Tensor = (nearest + (self.rest <= radius).sum(dim=1)) / 2
        return pairs


def chance_law(near: Float64[Tensor, "image near"], *, aside: float) -> ChanceLaw:
    """Fit the law to the scaled distances of images to their nearest.

    Distances of 0 and below `aside` are left out, and images with fewer than 5 others after that.

    >>> generator = torch.Generator().manual_seed(0)
    >>> uniform = torch.rand(4_000, 16, generator=generator, dtype=torch.float64)
    >>> law = chance_law(uniform ** (1 / 6), aside=0.0)
    >>> 5.5 < law.dimension < 6.5
    True
    """
    near = near.sort(dim=1).values
    gone = ((near < aside) | (near == 0)).sum(dim=1, keepdim=True)
    place = torch.arange(near.shape[1])[None] + gone
    kept = near.gather(1, place.clamp(max=near.shape[1] - 1))
    kept = kept.masked_fill(place >= near.shape[1], torch.inf)
    many = kept.isfinite().sum(dim=1)
    kept, many = kept[many >= LEAST], many[many >= LEAST]
    if len(kept) == 0:
        raise ValueError(
            f"curation: no image has {LEAST} others beyond a scaled distance of {aside:.2f}; "
            "needs more images that differ"
        )
    last = kept.gather(1, many[:, None] - 1)
    logs = (last / kept).log().masked_fill(kept.isinf(), 0.0)
    spread = (logs[:, 1:].sum(dim=1) + logs[:, 1]).clamp(min=1e-9)
    terms = (many - 2).double()
    shape, rate = _gamma(spread, terms)
    steep = _steepness(kept, spread, terms, shape, rate)
    return ChanceLaw(kept[:, 1], spread, terms, kept[:, 1:], shape, rate, steep)


def _gamma(spread: Numbers, terms: Numbers) -> tuple[float, float]:
    """Fit Gamma(shape, rate) over images to sums of exponentials, by maximum likelihood."""

    def loss(logs: Tensor) -> Tensor:
        a, b = logs.exp()
        chosen = torch.lgamma(a + terms) - torch.lgamma(a) + a * b.log()
        mean: Tensor = ((a + terms) * (b + spread).log() - chosen).mean()
        return mean

    typical = float(terms.sum() / spread.sum())
    shape, rate = _least(loss, torch.tensor([5.0, 5.0 / typical], dtype=torch.float64).log())
    return shape, rate


def _steepness(
    kept: Float64[Tensor, "image near"], spread: Numbers, terms: Numbers, shape: float, rate: float
) -> float:
    """Fit c to the ratios in the window, each under the law of its own image."""
    fall = (kept[:, 1] / kept[:, 0]).log()
    inside = fall <= -math.log(WINDOW)
    if int(inside.sum()) < 2:
        return 1.0
    fall, base, power = fall[inside], rate + spread[inside], shape + terms[inside]

    def loss(logs: Tensor) -> Tensor:
        c = logs.exp()
        beyond = base + c * fall
        density = (power * c / beyond).log() + power * (base / beyond).log()
        share = 1 - (base / (base - c * math.log(WINDOW))) ** power
        return (share.log() - density).mean()

    (steep,) = _least(loss, torch.zeros(1, dtype=torch.float64))
    return steep


def _least(loss: Callable[[Tensor], Tensor], start: Tensor) -> list[float]:
    """Return exp of the logarithms with the least loss."""
    logs = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([logs], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = loss(logs.clamp(*BOUNDS))
        value.backward()
        return value

    optimiser.step(closure)
    found: list[float] = logs.detach().clamp(*BOUNDS).exp().tolist()
    return found
