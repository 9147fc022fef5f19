"""Where unit vectors lie on the sphere: views together, images apart."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def alignment(
    first: Float[Tensor, "sample feature"], second: Float[Tensor, "sample feature"]
) -> Float[Tensor, ""]:
    r"""Return the mean of ||u - v||^2 over the two views of each image (Wang & Isola 2020).

    u and v are scaled to length one; 0 is the same vector, 2 at right angles, 4 opposite.

    >>> alignment(torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 5.0]]))
    tensor(2., dtype=torch.float64)
    """
    return (_unit(first) - _unit(second)).square().sum(dim=1).mean()


def uniformity(vectors: Float[Tensor, "sample feature"], *, t: float = 2.0) -> Float[Tensor, ""]:
    r"""Return log of the mean of e^{-t ||u - v||^2} over all pairs of images (Wang & Isola 2020).

    0 is one point; spread evenly over a sphere of many dimensions it nears -2 t. All pairs are
    held at once: for some thousand vectors at most.

    >>> round(float(uniformity(torch.eye(3))), 6)
    -4.0
    """
    distance = F.pdist(_unit(vectors))
    return torch.logsumexp(-t * distance.square(), dim=0) - math.log(max(1, len(distance)))


def deviation(vectors: Float[Tensor, "sample feature"]) -> Float[Tensor, ""]:
    r"""Return sqrt(d) times the mean deviation of the d coordinates of unit vectors.

    1 is spread evenly over the sphere, 0 is one point (Chen & He 2021, figure 2, where it is not
    multiplied). Vectors behind a ReLU are all on one side and stay well below 1.

    >>> corners = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> round(float(deviation(corners)), 6)
    1.0
    """
    spread: Tensor = _unit(vectors).std(dim=0, correction=0).mean()
    return spread * float(vectors.shape[1] ** 0.5)


def _unit(vectors: Tensor) -> Tensor:
    return F.normalize(vectors.double(), dim=1)
