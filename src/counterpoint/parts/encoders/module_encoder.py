"""Any nn.Module as an encoder."""

import copy
import hashlib
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from counterpoint.framework import PartError
from counterpoint.framework.records import Maps, Shape
from counterpoint.parts.encoders.feature_maps import FeatureMaps

Reader = Callable[[nn.Module, Tensor], Any]
"""How features are read: of the network and a batch of views, whatever `as_encoder` describes."""


@dataclass(frozen=True)
class ModuleEncoder:
    """A network of a user's own; `as_encoder` makes it.

    JSON names the network and never holds or imports it: a method that was read from a file needs
    it again, by `Run.open(folder, encoder=...)`.

    >>> encoder = as_encoder(nn.Conv2d(3, 8, 3))
    >>> encoder.name, encoder.weights is None  # it starts from the weights of this module
    ('Conv2d', False)
    """

    part: ClassVar[Literal["encoder"]] = "encoder"

    name: str
    """The class of the network."""
    layout: str
    """Sixteen digits of the names and shapes of its weights."""
    weights: str | None = None
    """Sixteen digits of the weights that it starts from; None draws them anew."""
    make: InitVar[Callable[[], nn.Module] | None] = None
    read: InitVar[Reader | None] = None

    def __post_init__(self, make: Callable[[], nn.Module] | None, read: Reader | None) -> None:
        object.__setattr__(self, "make", make)  # where `replace` looks for them
        object.__setattr__(self, "read", read)

    def build(self, views: tuple[Shape, ...]) -> FeatureMaps:  # noqa: ARG002 (any views)
        make: Callable[[], nn.Module] | None = vars(self)["make"]
        if make is None:
            raise PartError(
                "encoder",
                got=f"{self.name}, a module of your own, which no file holds",
                needs="the module",
                do=f"from Python: Run.open(folder, encoder={self.name}), or method.swap(encoder="
                f"as_encoder({self.name}))",
            )
        device = torch.empty(0).device
        if device.type != "meta":
            network = make()
        else:  # a factory may load weights or compute with them, which it cannot do there
            with torch.device("cpu"), torch.random.fork_rng(devices=[]):
                network = make().to(device)
        return FeatureMaps(network.train(), _reader(vars(self)["read"]), made_by=_note(self.name))

    def __str__(self) -> str:
        start = "" if self.weights is None else f", from weights {self.weights}"
        return f"{self.name}, a module of your own{start}"


def as_encoder(
    module: nn.Module | Callable[[], nn.Module], *, maps: Reader | None = None
) -> ModuleEncoder:
    """Return an encoder around any network: a module, or a class or function that makes one.

    A module is copied with its weights each time that a method is built; what a class or a
    function makes starts from the seed of the run. For a batch of views (b, c, h, w) the network
    gives vectors (b, d), a map (b, d, h, w), or several of these, shallow to deep. Where it gives
    something else, `maps(network, views)` gives one of these instead.

    >>> print(as_encoder(lambda: nn.Conv2d(3, 8, 3)))
    Conv2d, a module of your own
    """
    if isinstance(module, nn.Module):
        kept = copy.deepcopy(module)
        name, state = type(module).__name__, module.state_dict()
        return ModuleEncoder(
            name, _layout(state), _digits(state), make=lambda: copy.deepcopy(kept), read=maps
        )
    if not callable(module):
        raise PartError(
            "encoder",
            got=f"a {type(module).__name__}",
            needs="a torch.nn.Module, or a class or function that makes one",
            do="as_encoder(MyNetwork())",
        )
    with torch.random.fork_rng(devices=[]):
        made = module()
    if not isinstance(made, nn.Module):
        raise PartError(
            "encoder",
            got=f"a function that gives a {type(made).__name__}",
            needs="one that takes nothing and gives a torch.nn.Module",
        )
    return ModuleEncoder(type(made).__name__, _layout(made.state_dict()), make=module, read=maps)


def with_module(settings: Any, encoder: ModuleEncoder) -> Any:
    """Return settings in which every module of a user's own is this one again."""
    if isinstance(settings, ModuleEncoder):
        if settings.layout != encoder.layout:
            raise PartError(
                "encoder",
                got=f"{encoder.name} with weights of layout {encoder.layout}",
                needs=f"the network that was trained: {settings.name}, {settings.layout}",
                do="make it with the same widths and depths",
            )
        return replace(settings, make=vars(encoder)["make"], read=vars(encoder)["read"])
    if isinstance(settings, tuple):
        every = tuple(with_module(one, encoder) for one in settings)
        return settings if all(map(operator.is_, every, settings)) else every
    if not is_dataclass(settings) or isinstance(settings, type):
        return settings
    before = {field.name: getattr(settings, field.name) for field in fields(settings)}
    after = {name: with_module(value, encoder) for name, value in before.items()}
    changed = {name: value for name, value in after.items() if value is not before[name]}
    return replace(settings, **changed) if changed else settings


def _reader(read: Reader | None) -> Callable[[nn.Module, Tensor], Maps]:
    """Return feature maps, whatever form a network gives them in."""

    def maps(network: nn.Module, views: Tensor) -> Maps:
        found = network(views) if read is None else read(network, views)
        return tuple(_map(one) for one in (found if isinstance(found, Sequence) else (found,)))

    return maps


def _map(found: object) -> Tensor:
    """Return a map (b, d, h, w) of a map or of vectors (b, d)."""
    if isinstance(found, Tensor) and found.dim() in (2, 4):
        return found if found.dim() == 4 else found[:, :, None, None]
    if isinstance(found, Tensor) and found.dim() == 3:
        do = (
            "as_encoder(network, maps=lambda network, views: network(views).mean(dim=1)) for tokens"
        )
    else:
        do = "as_encoder(network, maps=lambda network, views: ...) that gives one of them"
    raise PartError(
        "encoder",
        got=f"a network that gives {tuple(found.shape)}"
        if isinstance(found, Tensor)
        else f"a network that gives a {type(found).__name__}",
        needs="vectors (b, d), a map (b, d, h, w), or several of them, shallow to deep",
        do=do,
    )


def _note(name: str) -> str:
    return f"{name}, a module of your own"


def _layout(state: Mapping[str, Tensor]) -> str:
    """Return sixteen digits of the names and shapes of tensors."""
    shapes = [f"{name} {tuple(tensor.shape)}" for name, tensor in state.items()]
    return hashlib.sha256("\n".join(shapes).encode()).hexdigest()[:16]


def _digits(state: Mapping[str, Tensor]) -> str:
    """Return sixteen digits of tensors."""
    digest = hashlib.sha256()
    for tensor in state.values():
        plain = tensor.detach().cpu().contiguous()
        digest.update(plain.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
