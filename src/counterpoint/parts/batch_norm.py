"""Batch norm over groups of images that may lie on several ranks."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from counterpoint.framework import ALONE, World

Norm = nn.modules.batchnorm._BatchNorm
Statistic = Float[Tensor, "group channel"]


def group_statistics(
    x: Float[Tensor, "row channel ..."], member: Int64[Tensor, " row"], groups: int, world: World
) -> tuple[Statistic, Statistic, Float[Tensor, " group"]]:
    r"""Give the mean, the variance and the count of each group, over all ranks.

    $$ \mu_g = \frac{1}{n_g} \sum_{i \in g} x_i, \quad
       \sigma_g^2 = \frac{1}{n_g} \sum_{i \in g} (x_i - \mu_g)^2 $$

    Rows never leave their rank: two small sums do, and so does their gradient.

    >>> x = torch.tensor([1.0, 3.0, 10.0, 14.0]).view(4, 1)
    >>> mean, variance, _ = group_statistics(x, torch.tensor([0, 0, 1, 1]), 2, ALONE)
    >>> mean.flatten().tolist(), variance.flatten().tolist()
    ([2.0, 12.0], [1.0, 4.0])
    """
    belongs = F.one_hot(member, groups).to(x).T  # (group, row)
    pixels = tuple(range(2, x.dim()))
    variance, mean = torch.var_mean(x, pixels, correction=0) if pixels else (x * 0, x)
    sums = world.sum(torch.cat([belongs @ mean, belongs.sum(1, keepdim=True)], dim=1))
    rows = sums[:, -1:].detach()
    centre = sums[:, :-1] / rows
    # Around the group's mean, not E[x^2] - E[x]^2, which cancels.
    spread = world.sum(belongs @ (variance + (mean - centre[member]) ** 2)) / rows
    return centre, spread, rows[:, 0] * x[0, 0].numel()


class GroupedBatchNorm(nn.Module):
    """Batch norm with the weights, buffers and key names of another, and other groups.

    One group over all ranks is synchronised batch norm, in any precision and on any device
    (torch's own is for GPUs only). Several groups are what several devices would have seen.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.eps, self.momentum = norm.eps, norm.momentum
        self.weight, self.bias = norm.weight, norm.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(norm, name))
        self.train(norm.training)
        self.world: World = ALONE
        self.groups = 1
        self.member: Int64[Tensor, " image"] | None = None
        """The group of each image; None puts all into one."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return F.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        member = self._rows(x)
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        mean, variance, count = group_statistics(wide, member, self.groups, self.world)
        self._remember(mean.detach(), variance.detach(), count)
        scale = (variance + self.eps).rsqrt() * self.weight
        shape = (-1, x.shape[1]) + (1,) * (x.dim() - 2)
        centred = wide - mean[member].view(shape)
        return torch.addcmul(self.bias.view(shape), centred, scale[member].view(shape)).to(x)

    def _rows(self, x: Tensor) -> Int64[Tensor, " row"]:
        """Give the group of each row; the views of a batch stand one after the other."""
        if self.member is None:
            return torch.zeros(len(x), dtype=torch.int64, device=x.device)
        return self.member.to(x.device).repeat(len(x) // len(self.member))

    @torch.no_grad()
    def _remember(self, mean: Statistic, variance: Statistic, count: Tensor) -> None:
        """Let the running statistics follow the mean over the groups, unbiased as torch's."""
        if mean.is_meta:
            return
        self.num_batches_tracked += 1
        follow = self.momentum or 1 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1).clamp(min=1))[:, None]
        self.running_mean.lerp_(mean.mean(0).to(self.running_mean), follow)
        self.running_var.lerp_(unbiased.mean(0).to(self.running_var), follow)


def regroup(module: nn.Module, member: Int64[Tensor, " image"] | None, groups: int) -> None:
    """Say for the next pass which group each image is in."""
    for norm in module.modules():
        if isinstance(norm, GroupedBatchNorm):
            norm.member, norm.groups = member, groups


def replace_norms(module: nn.Module) -> None:
    """Put a `GroupedBatchNorm` in the place of every batch norm; weights and keys stay."""
    for name, child in list(module.named_children()):
        if isinstance(child, Norm):
            setattr(module, name, GroupedBatchNorm(child))
        else:
            replace_norms(child)


def share_statistics(module: nn.Module, world: World, *, fused: bool = False) -> None:
    """Let every batch norm see the images of all ranks, so that W ranks are as one process.

    A process that is alone keeps torch's own, which is faster and the same; `fused` takes
    torch's synchronised one, which needs GPUs.
    """
    if world.size > 1 and fused:
        nn.SyncBatchNorm.convert_sync_batchnorm(module)
    elif world.size > 1:
        replace_norms(module)
    for norm in module.modules():
        if isinstance(norm, GroupedBatchNorm):
            norm.world = world
