"""MoCo's pair: queries of the first view from the encoder, keys of the second from its twin."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from counterpoint.framework import Encoder, Momentum, PartError
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.records import Maps, Shape, View
from counterpoint.framework.sending import send
from counterpoint.parts.batch_norm import GroupedBatchNorm, regroup
from counterpoint.parts.encoders.momentum_encoder import refuse_twin
from counterpoint.parts.norm_conversion import replace_norms


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKeyEncoder:
    """Another encoder for queries and its moving average for keys, with shuffled batch norm.

    If a query and its key share batch statistics, these give away which key is the positive (He et
    al. 2019, section 3.3). So the batch is divided into `groups` groups, of queries in order and of
    keys shuffled: 8 stands for MoCo's 8 GPUs, on any number of devices.

    >>> from counterpoint.parts.encoders import NarrowResNet
    >>> pair = QueryKeyEncoder(of=NarrowResNet(widths=(8,), blocks=(1,)), groups=2)
    >>> built = pair.build(((3, 16, 16), (3, 16, 16)))
    >>> views = torch.zeros(4, 3, 16, 16), torch.zeros(4, 3, 16, 16)
    >>> (queries,), (keys,) = built(views)[:1], built.target(views)[-1:]
    >>> queries[-1].requires_grad, keys[-1].requires_grad
    (True, False)
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    of: Encoder
    decay: float = 0.999  # facebookresearch/moco, main_moco.py, --moco-m
    groups: int = 8  # facebookresearch/moco, README: 8 GPUs of 32 images
    """Groups of batch-norm statistics; 1 shuffles nothing."""

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1 or self.groups < 1:
            raise PartError(
                "encoder",
                got=f"decay={self.decay}, groups={self.groups}",
                needs="a share from 0 to 1, and one group or more",
            )

    def build(self, views: tuple[Shape, ...]) -> "QueryKey":
        if len(views) != 2:
            raise PartError("encoder", got=f"{len(views)} views", needs="two: a query and a key")
        online = self.of.build(views[:1])
        assert isinstance(online, nn.Module)
        refuse_twin(online, inside="QueryKeyEncoder", do="take the inner one away")
        if self.groups > 1:
            replace_norms(online)
        return QueryKey(online, decay=self.decay, groups=self.groups)

    def __str__(self) -> str:
        shuffled = f", batch norm in {self.groups} shuffled groups" if self.groups > 1 else ""
        return f"{self.of}, keys by a twin {self.decay:g}{shuffled}"


class QueryKey(Momentum):
    """The built pair."""

    passes: Tensor

    def __init__(self, online: nn.Module, *, decay: float, groups: int) -> None:
        super().__init__(online, decay=decay)
        self.groups = groups
        register_count(self, "passes")

    def forward(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        regroup(self.online, self._groups(len(views[0]), shuffled=False), self.groups)
        maps: tuple[Maps, ...] = self.online(views[:1])
        return maps

    @torch.no_grad()
    def target(self, views: tuple[View, ...]) -> tuple[Maps, ...]:
        regroup(self.twin, self._groups(len(views[0]), shuffled=True), self.groups)
        if self.training and not self.passes.is_meta:
            add_to(self, "passes", 1)
        maps: tuple[Maps, ...] = self.twin(views[1:])
        return maps

    def _groups(self, own: int, *, shuffled: bool) -> Int64[Tensor, " image"] | None:
        """Return the groups of this rank's images: together they are those of one process."""
        norms = (norm for norm in self.online.modules() if isinstance(norm, GroupedBatchNorm))
        if (first := next(norms, None)) is None:
            return None
        sizes = first.world.images(own)
        whole, start = sum(sizes), sum(sizes[: first.world.rank])
        group = torch.arange(whole, device="cpu") * self.groups // whole
        if shuffled and not self.passes.is_meta:
            generator = torch.Generator().manual_seed(count_of(self, "passes"))
            group = group[torch.randperm(whole, generator=generator)]
        return send(group[start : start + own], self.passes.device)
