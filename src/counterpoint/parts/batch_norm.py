"""Batch norm over groups of images that may lie on several ranks."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor, nn

from counterpoint.framework import ALONE, World
from counterpoint.framework.precision import at_least_fp32, without_autocast

Norm = nn.modules.batchnorm._BatchNorm
Statistic = Float[Tensor, "group channel"]
Member = Int64[Tensor, " row"]
AFTER = ("drop", "act")
"""What timm's BatchNormAct2d does after its statistics, in this order."""


def group_statistics(
    x: Float[Tensor, "row channel ..."], member: Member | None, groups: int, world: World
) -> tuple[Statistic, Statistic, Float[Tensor, " group"]]:
    r"""Return the mean, the variance and the count of each group, over all ranks.

    $$ \mu_g = \frac{1}{n_g} \sum_{i \in g} x_i, \quad
       \sigma_g^2 = \frac{1}{n_g} \sum_{i \in g} (x_i - \mu_g)^2 $$

    Rows never leave their rank: two small sums do, and so does their gradient. A `member` of
    None puts every row into one group.

    >>> x = torch.tensor([1.0, 3.0, 10.0, 14.0]).view(4, 1)
    >>> mean, variance, _ = group_statistics(x, torch.tensor([0, 0, 1, 1]), 2, ALONE)
    >>> mean.flatten().tolist(), variance.flatten().tolist()
    ([2.0, 12.0], [1.0, 4.0])
    """
    pixels = tuple(range(2, x.dim()))
    variance, mean = torch.var_mean(x, pixels, correction=0) if pixels else (x * 0, x)
    ones = mean.new_ones(len(mean), 1)
    sums = world.sum(_summed(torch.cat([mean, ones], dim=1), member, groups))
    rows = sums[:, -1:].detach()
    some = rows.clamp(min=1)  # a batch may have fewer images than there are groups
    centre = sums[:, :-1] / some
    # Around the group's mean, not E[x^2] - E[x]^2, which cancels.
    apart = (mean - _each(centre, member)) ** 2
    spread = world.sum(_summed(variance + apart, member, groups)) / some
    return centre, spread, rows[:, 0] * x[0, 0].numel()


class GroupedBatchNorm(Norm):
    """Batch norm with the weights, buffers and key names of another, and other groups.

    One group over all ranks is synchronised batch norm, in any precision and on any device
    (torch's own is for GPUs only). Several groups are what several devices would have seen.
    Statistics are fp32 at least, also under autocast. What timm's norms do after their
    statistics, `drop` and `act`, stays. It is a batch norm for whoever asks, as some networks do.
    """

    def __init__(self, norm: Norm) -> None:
        super().__init__(norm.num_features, norm.eps, norm.momentum, affine=False)
        self.affine, self.track_running_stats = norm.affine, norm.track_running_stats
        self.weight, self.bias = norm.weight, norm.bias
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(norm, name))
        for name in AFTER:
            if hasattr(norm, name):
                self.add_module(name, getattr(norm, name))
        self.train(norm.training)
        self.world: World = ALONE
        self.groups = 1
        self.member: Int64[Tensor, " image"] | None = None
        """The group of each image; None puts all into one."""
        self.patches = 1
        """Rows of each image that follow each other."""

    def forward(self, x: Tensor) -> Tensor:
        normed = self._trained(x) if self.training else self._evaluated(x)
        for after in self.children():
            normed = after(normed)
        return normed

    def _evaluated(self, x: Tensor) -> Tensor:
        """Normalise by the running statistics; without them by those of this batch, as torch."""
        alone = self.running_mean is None
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, alone, eps=self.eps
        )

    def _trained(self, x: Tensor) -> Tensor:
        member = self._rows(x)
        with without_autocast(x.device):
            wide = at_least_fp32(x)
            mean, variance, count = group_statistics(wide, member, self.groups, self.world)
            self._remember(mean.detach(), variance.detach(), count)
            shape = (-1, x.shape[1]) + (1,) * (x.dim() - 2)
            scale = (variance + self.eps).rsqrt()
            if self.weight is not None:
                scale = scale * self.weight
            centred = wide - _each(mean, member).view(shape)
            scale = _each(scale, member).view(shape)
            if self.bias is None:
                return (centred * scale).to(x)
            return torch.addcmul(self.bias.view(shape), centred, scale).to(x)

    def _rows(self, x: Tensor) -> Member | None:
        """Return the group of each row; the views of a batch stand one after the other."""
        if self.member is None:
            return None
        each = self.member.to(x.device).repeat_interleave(self.patches)
        return each.repeat(len(x) // len(each))

    @torch.no_grad()
    def _remember(self, mean: Statistic, variance: Statistic, count: Tensor) -> None:
        """Let the running statistics follow the mean over the groups, unbiased as torch's."""
        if mean.is_meta or self.running_mean is None or self.running_var is None:
            return
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        follow = self.momentum
        if follow is None:  # torch's cumulative mean
            follow = 1 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1).clamp(min=1))[:, None]
        share = (count > 0).to(mean)[:, None]
        share = share / share.sum()
        self.running_mean.lerp_((share * mean).sum(0).to(self.running_mean), follow)
        self.running_var.lerp_((share * unbiased).sum(0).to(self.running_var), follow)


def regroup(module: nn.Module, member: Int64[Tensor, " image"] | None, groups: int) -> None:
    """Say for the next pass which group each image is in."""
    for norm in module.modules():
        if isinstance(norm, GroupedBatchNorm):
            norm.member, norm.groups = member, 1 if member is None else groups


def rows_of_images(module: nn.Module, patches: int) -> None:
    """Say that every image comes as this many patches, one after the other.

    It stays so after the pass: the backward pass may run blocks again.
    """
    for norm in module.modules():
        if isinstance(norm, GroupedBatchNorm) and norm.patches != patches:
            norm.patches = patches


def _summed(
    rows: Float[Tensor, "row channel"], member: Member | None, groups: int
) -> Float[Tensor, "group channel"]:
    """Add the rows of each group."""
    if member is None:
        return rows.sum(0, keepdim=True)
    return rows.new_zeros(groups, rows.shape[1]).index_add(0, member, rows)


def _each(statistic: Statistic, member: Member | None) -> Float[Tensor, "row channel"]:
    """Return the statistic of its group for each row; one row for all if there is one group."""
    return statistic if member is None else statistic[member]
