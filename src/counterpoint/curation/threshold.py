r"""Where a pair begins to be a duplicate: the radius at a stated precision, with its interval.

Of the pairs within $\rho$, $found(\rho)$ are there to be counted, and the law of chance expects
$F(\rho)$ of them to be of different images. The precision is $1 - F(\rho) / found(\rho)$; the
threshold is the largest radius at which it is still the target.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from counterpoint.curation.chance import ChanceLaw

STEPS = 240  # radii that are tried
LOWEST, HIGHEST = 0.05, 1.0  # scaled distances; beyond 1 the lists of neighbours are not complete
DRAWS = 400  # of the bootstrap
LOOK = 0.8  # of the target: pairs down to this precision are worth a look


@dataclass(frozen=True, slots=True)
class Threshold:
    """A radius, what is found within it, and how much of that is right."""

    radius: float
    """0 where no radius reaches the target: only equal files are duplicates then."""
    look: float
    """The radius to which pairs are worth a look."""
    found: int
    chance: float
    """How many of the found pairs are expected to be of different images."""
    precision: float
    low: float
    high: float
    """95 % of the precisions that would be counted lie between these."""

    def widened(self, lenient: ChanceLaw, *, images: int, seed: int = 0) -> "Threshold":
        """Raise the upper end to that of a law which takes all pairs within for copies.

        Which of three or more images that are near each other are copies, and which a crowd, no
        vector says. The law of the threshold counts those beyond the second as chance; this one
        is fitted without any pair within the radius. The truth lies between the two.
        """
        if self.found == 0:
            return self
        each = lenient.pairs(self.radius) * (images / len(lenient.anchor))
        return replace(self, high=max(self.high, _interval(each, self.found, seed)[1]))


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionCurve:
    """How many pairs lie within each radius, and how many of them by chance."""

    radii: Float64[Tensor, " radius"]
    found: Int64[Tensor, " radius"]
    chance: Float64[Tensor, " radius"]

    @property
    def precision(self) -> Float64[Tensor, " radius"]:
        """The share of the pairs within each radius that are not there by chance."""
        return (1 - self.chance / self.found.clamp(min=1)).clamp(min=0)

    def at(self, distances: Float64[Tensor, " pair"]) -> Float64[Tensor, " pair"]:
        """Return the precision of all pairs that are as near as each of these."""
        place = torch.searchsorted(self.radii, distances).clamp(max=len(self.radii) - 1)
        return self.precision[place]

    def largest(self, precision: float) -> int | None:
        """Return the place of the largest radius that reaches a precision."""
        reached = ((self.precision >= precision) & (self.found > 0)).nonzero().flatten()
        return int(reached[-1]) if len(reached) else None


def precision_curve(
    distances: Float64[Tensor, " pair"], law: ChanceLaw, *, images: int
) -> PrecisionCurve:
    """Count pairs within radii from 0.05 to 1; `images` are all, the law may be of some of them."""
    ends = torch.tensor([LOWEST, HIGHEST], dtype=torch.float64).log()
    radii = torch.linspace(float(ends[0]), float(ends[1]), STEPS, dtype=torch.float64).exp()
    found = torch.searchsorted(distances.sort().values, radii, right=True)
    scale = images / len(law.anchor)
    chance = torch.stack([law.pairs(float(radius)).sum() * scale for radius in radii])
    return PrecisionCurve(radii, found, chance)


def fitted_threshold(
    curve: PrecisionCurve, law: ChanceLaw, *, precision: float = 0.95, seed: int = 0
) -> Threshold:
    """Return the largest radius at which the precision is the target, and its interval.

    The interval is that of the precision which would be counted by eye: images are drawn again,
    since the mean number of chance pairs depends on them, and then their number is drawn as a
    Poisson variable.

    >>> from counterpoint.curation.chance import chance_law
    >>> generator = torch.Generator().manual_seed(0)
    >>> near = torch.rand(2_000, 16, generator=generator, dtype=torch.float64) ** (1 / 20)
    >>> law = chance_law(near, aside=0.0)
    >>> copies = torch.linspace(0.1, 0.6, 100, dtype=torch.float64)
    >>> curve = precision_curve(torch.cat([copies, near[:, 0]]), law, images=2_000)
    >>> 0.5 < fitted_threshold(curve, law).radius < 0.8
    True
    """
    worth = curve.largest(LOOK * precision)
    look = 0.0 if worth is None else float(curve.radii[worth])
    best = curve.largest(precision)
    if best is None:
        return Threshold(0.0, look, 0, 0.0, 1.0, 1.0, 1.0)
    radius, found, chance = (float(each[best]) for each in (curve.radii, curve.found, curve.chance))
    each = law.pairs(radius)
    low, high = _interval(each * (chance / float(each.sum().clamp(min=1e-12))), int(found), seed)
    return Threshold(radius, look, int(found), chance, float(curve.precision[best]), low, high)


def _interval(each: Float64[Tensor, " image"], found: int, seed: int) -> tuple[float, float]:
    generator = torch.Generator().manual_seed(seed)
    drawn = (torch.randint(len(each), (len(each),), generator=generator) for _ in range(DRAWS))
    means = torch.stack([each[rows].sum() for rows in drawn])
    counts = torch.poisson(means, generator=generator).clamp(max=found)
    worst, best = (float(counts.quantile(share)) for share in (0.975, 0.025))
    return 1 - worst / found, 1 - best / found
