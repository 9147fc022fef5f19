"""Put batch norms over groups or ranks in the place of a network's own, or say why not."""

from timm.layers.norm_act import BatchNormAct2d, SyncBatchNormAct, convert_sync_batchnorm
from torch import nn

from counterpoint.framework import ALONE, PartError, World
from counterpoint.framework.method import FIVE
from counterpoint.parts.batch_norm import AFTER, GroupedBatchNorm, Norm, regroup

UNDERSTOOD = {kind.forward for kind in (Norm, nn.SyncBatchNorm, BatchNormAct2d, SyncBatchNormAct)}
"""What a batch norm may do: its statistics, then timm's `drop` and `act`, and nothing else."""


def replace_norms(module: nn.Module) -> None:
    """Put a `GroupedBatchNorm` in the place of every batch norm; weights and keys stay.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    >>> replace_norms(net)
    >>> type(net[1]).__name__, list(net.state_dict())[-1]
    ('GroupedBatchNorm', '1.num_batches_tracked')
    """
    _replace(module, fused=False)


def share_statistics(module: nn.Module, world: World, *, fused: bool = False) -> None:
    """Let every batch norm see the images of all ranks, so that W ranks are as one process.

    A process that is alone keeps torch's own, which is faster and the same; `fused` takes
    torch's synchronised one, which needs GPUs.
    """
    if world.size > 1:
        _replace(module, fused=fused)
    for norm in module.modules():
        if isinstance(norm, GroupedBatchNorm):
            norm.world = world


def separate_statistics(module: nn.Module) -> None:
    """Let every batch norm see its own batch alone, without the ranks and groups of its training.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.SyncBatchNorm(3))
    >>> separate_statistics(net)
    >>> type(net[1]).__name__, net[1].world.size
    ('GroupedBatchNorm', 1)
    """
    if any(isinstance(norm, nn.SyncBatchNorm) for norm in module.modules()):
        replace_norms(module)  # torch's own waits for all ranks
    share_statistics(module, ALONE)
    regroup(module, None, 1)


def _replace(module: nn.Module, *, fused: bool) -> None:
    """Convert all norms or none; a norm that stands in two places stays one norm."""
    found = {
        name: norm
        for name, norm in module.named_modules(remove_duplicate=False)
        if name and isinstance(norm, Norm) and not isinstance(norm, GroupedBatchNorm)
    }
    for name, norm in found.items():
        _understood(name, norm)
    made: dict[Norm, nn.Module] = {}
    for name, norm in found.items():
        if norm not in made:
            made[norm] = convert_sync_batchnorm(norm) if fused else GroupedBatchNorm(norm)
        parent, _, own = name.rpartition(".")
        setattr(module.get_submodule(parent), own, made[norm])


def _understood(name: str, norm: Norm) -> None:
    """Refuse a norm that would be another function after the conversion."""
    kind = type(norm)
    ours = kind.forward in UNDERSTOOD
    hooked = norm._forward_hooks or norm._forward_pre_hooks
    inner = {name for name, _ in norm.named_children()} - set(AFTER)
    if ours and not hooked and not inner:
        return
    why = "hooks or modules of its own" if ours else "a forward of its own"
    part, _, place = name.partition(".")
    raise PartError(
        part if part in FIVE else "encoder",
        got=f"the batch norm {place if part in FIVE else name}, a {kind.__name__} with {why}",
        needs="one of torch's, or timm's BatchNormAct2d",
        do="it would be another network over several ranks or groups: take another encoder, "
        "sync_batchnorm=False, or for MoCo groups=1",
    )
