"""The gradient of a convolution's weights as one matrix product, where its maps are small."""

from math import prod
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.grad import conv2d_input

LARGEST = 25  # places of a map up to which the product is faster: docs/measurements.md
FEWEST = 32  # channels from which it is
NARROWED = (torch.float32, torch.bfloat16)  # what autocast takes
Place = tuple[int, int]
Maps = Float[Tensor, "image channel row column"]
Outputs = Float[Tensor, "image out place_row place_column"]
Weights = Float[Tensor, "out channel kernel_row kernel_column"]


class SmallMapConv2d(nn.Conv2d):
    """A convolution whose weights get their gradient from a matrix product, in bf16 on a CPU.

    Everything else is torch's own: values, gradient of the input, weights and key names. oneDNN's
    kernel for this gradient takes up to nine times as long where few places share a weight.
    """

    def _get_name(self) -> str:
        return nn.Conv2d.__name__

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # noqa: A002 (torch's)
        found: Tensor
        ours = _multiplied(input, weight) and bias is None and _plain(self)
        if ours and self.in_channels >= FEWEST and self._places(input) <= LARGEST:
            stride, padding = _pair(self.stride), _pair(self.padding)
            found = _Convolution.apply(input.bfloat16(), weight.bfloat16(), stride, padding)
        else:
            found = super()._conv_forward(input, weight, bias)
        return found

    def _places(self, maps: Tensor) -> int:
        """Count the places of the map that comes out."""
        padding, stride = _pair(self.padding), _pair(self.stride)
        sides = zip(maps.shape[2:], padding, self.kernel_size, stride, strict=True)
        return prod((side + 2 * pad - kernel) // step + 1 for side, pad, kernel, step in sides)


def multiply_small_maps(network: nn.Module) -> None:
    """Let the plain convolutions of a network be of this kind; weights and key names stay.

    Those with groups, dilation, a bias or another padding than zeros stay torch's.

    >>> network = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.Conv2d(4, 4, 3, groups=4))
    >>> multiply_small_maps(network)
    >>> [type(layer).__name__ for layer in network]
    ['SmallMapConv2d', 'Conv2d']
    """
    for module in network.modules():
        if type(module) is nn.Conv2d and _plain(module):
            module.__class__ = SmallMapConv2d


def multiply_where_faster(network: nn.Module, precision: str) -> None:
    """Do so where training in this precision gains by it on this machine: in bf16, with AMX."""
    if precision == "bf16-mixed" and torch.cpu.get_capabilities().get("amx_bf16"):
        multiply_small_maps(network)


def plain_convolutions(network: nn.Module) -> None:
    """Put torch's convolutions back, which tracers and scripts of a network ask for.

    >>> network = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False))
    >>> multiply_small_maps(network)
    >>> plain_convolutions(network)
    >>> type(network[0]).__name__
    'Conv2d'
    """
    # One that was given another class since, such as a parametrised one, keeps that.
    ours: list[nn.Module] = [m for m in network.modules() if type(m) is SmallMapConv2d]
    for module in ours:
        module.__class__ = nn.Conv2d


def weight_gradient(
    maps: Maps, gradient: Outputs, kernel: Place, stride: Place, padding: Place
) -> Weights:
    r"""Return the gradient of the weights, given that of the convolution's output.

    $$ \frac{\partial L}{\partial w_{ocij}} =
       \sum_{n,y,x} g_{noyx} \, m_{n c, s y + i - p, s x + j - p} $$

    The sum over images and places is one product: of the gradient, and of the patches of the maps
    as rows.

    >>> maps, gradient = torch.ones(2, 1, 2, 2), torch.ones(2, 1, 2, 2)
    >>> weight_gradient(maps, gradient, (3, 3), (1, 1), (1, 1))[0, 0].tolist()
    [[2.0, 4.0, 2.0], [4.0, 8.0, 4.0], [2.0, 4.0, 2.0]]
    """
    channels, (rows, columns) = maps.shape[1], gradient.shape[2:]
    (down, right), (above, before) = stride, padding
    padded = F.pad(maps.permute(0, 2, 3, 1), (0, 0, before, before, above, above))
    places = [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]
    height, width = down * (rows - 1) + 1, right * (columns - 1) + 1
    shifted = [padded[:, i : i + height : down, j : j + width : right] for i, j in places]
    patches = torch.cat(shifted, dim=-1).flatten(0, 2)
    found = gradient.permute(0, 2, 3, 1).flatten(0, 2).t() @ patches
    return found.view(-1, *kernel, channels).permute(0, 3, 1, 2)


class _Convolution(torch.autograd.Function):
    """torch's convolution with the gradient above."""

    @staticmethod
    def forward(ctx: Any, maps: Tensor, weight: Tensor, stride: Place, padding: Place) -> Tensor:
        ctx.save_for_backward(maps, weight)
        ctx.stride, ctx.padding = stride, padding
        return F.conv2d(maps, weight, None, stride, padding)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None, None]:
        maps, weight = ctx.saved_tensors
        kernel = (weight.shape[2], weight.shape[3])
        of_maps = None
        if ctx.needs_input_grad[0]:
            of_maps = conv2d_input(maps.shape, weight, gradient, ctx.stride, ctx.padding)
        of_weight = weight_gradient(maps, gradient, kernel, ctx.stride, ctx.padding)
        return of_maps, of_weight, None, None


def _plain(conv: nn.Conv2d) -> bool:
    zeros = conv.padding_mode == "zeros" and not isinstance(conv.padding, str)
    return zeros and conv.bias is None and conv.groups == 1 and conv.dilation == (1, 1)


def _multiplied(maps: Tensor, weight: Tensor) -> bool:
    """Tell whether the gradient of the weights will be asked for, in bf16 on a CPU."""
    if not (weight.requires_grad and torch.is_grad_enabled()):
        return False
    if maps.device.type != "cpu" or maps.dim() != 4 or maps.dtype not in NARROWED:
        return False
    if torch.compiler.is_compiling():  # inductor fails on sides that it takes to be unknown
        return False
    return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16


def _pair(values: Any) -> Place:
    first, second = values
    return first, second
