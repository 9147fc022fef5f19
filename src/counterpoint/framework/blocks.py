"""The blocks of a network: what is gathered, compiled and recomputed as one piece."""

from collections.abc import Iterator

from torch import nn

LARGE = 1 << 20
"""Weights from which on a single layer is a block of its own."""


def blocks_of(network: nn.Module) -> tuple[nn.Module, ...]:
    """Return the blocks of a network, each before those inside of it.

    A module may name its own by a method `block_modules()`, which gives modules that it calls. All
    others have the members of their lists and sequences that have parts themselves, or `LARGE`
    weights: the residual blocks of a ResNet, the layers of a transformer.

    >>> layer = nn.TransformerEncoderLayer(8, 2)
    >>> len(blocks_of(nn.TransformerEncoder(layer, num_layers=3, enable_nested_tensor=False)))
    3
    >>> blocks_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    ()
    """
    return tuple(dict.fromkeys(_found(network)))


def _found(network: nn.Module) -> Iterator[nn.Module]:
    named = getattr(network, "block_modules", None)
    if callable(named) and not isinstance(named, nn.Module):
        yield from named()
        return
    listed = isinstance(network, nn.Sequential | nn.ModuleList)
    for child in network.children():
        if listed and _is_block(child):
            yield child
        yield from _found(child)


def _is_block(module: nn.Module) -> bool:
    """Tell a block from a layer and from another list of blocks."""
    if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict):
        return False
    weights = sum(weight.numel() for weight in module.parameters())
    return weights > 0 and (weights >= LARGE or any(True for _ in module.children()))
