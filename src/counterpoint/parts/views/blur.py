"""The Gaussian blur: a linear map of every line, so again two matrices per image."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.framework import PartError
from counterpoint.framework.constants import fixed
from counterpoint.framework.records import Shape
from counterpoint.parts.views.fast import compiled_for
from counterpoint.parts.views.resampling import apply_matrices, reflect
from counterpoint.parts.views.stage import Numbers, Unit, between, change_chosen_

NOTHING = 1e-7  # weights below it count as 0: denormal numbers would slow products tenfold

Weights = Float[Tensor, "batch kernel"]


@dataclass(frozen=True, slots=True)
class GaussianBlur:
    r"""Blur by a Gaussian of random width, with reflected borders, as torchvision does.

    $$ g(k) \propto e^{-k^2 / 2 \sigma^2}, \quad \sigma \sim U(\sigma_0, \sigma_1) $$

    for a share `p` of the images.

    >>> print(GaussianBlur(kernel=23))
    blur 0.1-2 p 0.5
    >>> point = torch.zeros(1, 1, 5, 5)
    >>> point[0, 0, 2, 2] = 1.0
    >>> GaussianBlur(kernel=3, sigma=(1.0, 1.0), p=1.0).change_(point, torch.zeros(1, 2))
    >>> point[0, 0, 2]
    tensor([0.0000, 0.1238, 0.2042, 0.1238, 0.0000])
    """

    kernel: int
    """Pixels under the Gaussian: odd, a tenth of the image (Chen et al. 2020, appendix A)."""
    sigma: tuple[float, float] = (0.1, 2.0)
    p: float = 0.5

    numbers = 2

    def shape(self, image: Shape) -> Shape:
        if self.kernel % 2 == 0 or self.kernel // 2 >= min(image[1:]):
            raise PartError(
                "views",
                got=f"a blur of {self.kernel} pixels on images {image}",
                needs="an odd number, less than twice the image",
            )
        return image

    def change_(self, images: Unit, numbers: Numbers) -> None:
        chosen = numbers[:, 0] < self.p
        weight = taps(between(numbers[:, 1], *self.sigma), self.kernel)
        kernels = compiled_for(images)
        if kernels is None:
            change_chosen_(images, chosen, blur, weight)
        else:
            kernels.blur_compiled(images.numpy(), weight.numpy(), chosen.numpy())

    def words(self, numbers: Numbers, _image: Shape) -> list[str]:
        sigma = between(numbers[:, 1], *self.sigma).tolist()
        chosen = (numbers[:, 0] < self.p).tolist()
        return [f"blur {s:.1f}" if c else "" for s, c in zip(sigma, chosen, strict=True)]

    def __str__(self) -> str:
        return f"blur {self.sigma[0]:g}-{self.sigma[1]:g} p {self.p:g}"


def taps(sigma: Float[Tensor, " batch"], kernel: int) -> Float[Tensor, "batch {kernel}"]:
    """Return the weights of the Gaussian, symmetric and of sum 1.

    >>> taps(torch.tensor([1.0]), 3)
    tensor([[0.2741, 0.4519, 0.2741]])
    """
    reach = kernel // 2
    place = torch.arange(-reach, reach + 1, device=sigma.device)
    weight = torch.exp(-0.5 * (place / sigma[:, None]) ** 2)
    weight = weight / weight.sum(dim=1, keepdim=True)
    return weight.masked_fill(weight < NOTHING, 0.0)


def blur_weights(weight: Weights, of: int) -> Float[Tensor, "batch {of} {of}"]:
    """Return the matrix that convolves a line with the weights and reflects it at its ends.

    >>> torch.ones(4) @ blur_weights(taps(torch.tensor([1.0]), 3), 4)[0]
    tensor([1., 1., 1., 1.])
    """
    count, kernel = weight.shape
    shape = (count, kernel, of)
    place = fixed(_places, (kernel, of), weight.device).expand(shape)
    matrix = weight.new_zeros(count, of, of)
    return matrix.scatter_add_(1, place, weight[:, :, None].expand(shape))


def _places(kernel: int, of: int) -> Int64[Tensor, "{kernel} {of}"]:
    """Return the pixel under each weight, for every pixel of a line: the same for all images."""
    return reflect(torch.arange(of) + torch.arange(kernel)[:, None] - kernel // 2, of)


def blur(images: Unit, weight: Weights) -> Unit:
    """Convolve every line of every image with the image's weights."""
    height, width = images.shape[-2:]
    rows = blur_weights(weight, height)
    return apply_matrices(rows, images, rows if width == height else blur_weights(weight, width))
