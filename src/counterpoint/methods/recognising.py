"""Which recipe a method is, or was made from, and so how it is trained."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, is_dataclass, replace
from functools import cache
from typing import Any

from counterpoint.framework import Method
from counterpoint.framework.method import FIVE
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.settings import MACHINE, Training
from counterpoint.methods.known import METHODS, ORIGINS, RECIPES, SEVEN
from counterpoint.parts.views.normalisation import with_pixels

SIDE = 32  # of a recipe whose views mention none
SMALLEST = 16  # pixels; no recipe is made for less
FAR = 2  # parts that may differ from a recipe; three are a method of one's own
NEEDED = ("optimiser", "lr", "batch", "epochs")
ANY = Pixels((0.0,) * 3, (1.0,) * 3)
HOW = {"seed", "precision", "compile", "sync_batchnorm", "accumulate", "lanes", "block_shards"}
HOW |= set(MACHINE)
"""Settings that say how a recipe is run, not which one it is."""


def training_of(method: Method | str, **changes: Any) -> Training:
    """Return the training settings that go with a method, with some of them changed.

    A method that is a value is trained by the recipe that it was made from: the one from which it
    differs in two parts at most. For any other the changes have to say how.

    >>> training_of("byol").batch
    4096
    >>> from counterpoint import simclr, NarrowResNet
    >>> training_of(simclr(NarrowResNet()), batch=64).optimiser
    'lars'
    """
    name = method if isinstance(method, str) else recipe_of(method)
    if isinstance(method, str) and name not in RECIPES:
        raise ValueError(f"method: got {method!r}; there are {', '.join(METHODS)}")
    if name is not None:
        return replace(RECIPES[name].training, **changes)
    if changes.keys() >= set(NEEDED):
        return Training(**changes)
    assert not isinstance(method, str)
    nearest, different = nearest_recipe(method)
    raise ValueError(
        f"training: no recipe has this method; the nearest, {nearest}, has another "
        f"{', '.join(different)}. Say how to train it: training=training_of({nearest!r}), or "
        "training=Training(optimiser=..., lr=..., batch=..., epochs=...); on the command "
        "--optimiser, --lr, --batch-size and --epochs"
    )


def recipe_of(method: Method) -> str | None:
    """Name the recipe that a method is, or was swapped from; None for one of your own.

    >>> from counterpoint import amdim, ResNet
    >>> recipe_of(amdim(ResNet("resnet18")))
    'amdim'
    """
    near = _nearest(method)
    names = [name for name, _ in near]
    if len(near[0][1]) > FAR:
        return None
    return _first_of_family(list(dict.fromkeys(n.partition("-")[0] for n in names)), names)


def _first_of_family(methods: list[str], names: list[str]) -> str | None:
    """Choose among names that are as near: the one that all others change, None if none is.

    SimCLR with a loss of your own is as near to DCL, which is SimCLR with another loss.
    """
    for name in names:
        own = name.partition("-")[0]
        if all(own in _ancestry(method) for method in methods):
            return name
    return None


def _ancestry(method: str) -> Iterator[str]:
    """Yield a method and those that it changes, up to and with the first of the paper's seven."""
    yield method
    while method not in SEVEN and (before := ORIGINS[method].after) in ORIGINS:
        method = str(before)
        yield method


def preset_of(method: Method, training: Training, *, size: int) -> str | None:
    """Name the method of `METHODS` that a method is exactly, for views of one side.

    Where two differ in their training alone, it is the one whose settings are nearest.

    >>> preset_of(METHODS["cmc"](size=32, samples=7), training_of("cmc"), size=32)
    'cmc'
    """
    plain, same = method.for_samples(1), []
    for name, compose in METHODS.items():
        try:
            if compose(size=size).for_samples(1) == plain:
                same.append(name)
        except ValueError:  # this recipe does not go with images of this size
            continue
    return min(same, key=lambda name: len(_changes(training, name)), default=None)


def nearest_recipe(method: Method) -> tuple[str, tuple[str, ...]]:
    """Find the recipe that shares most parts, and the parts that differ from it."""
    return _nearest(method)[0]


def recipe_words(method: Method, training: Training) -> str:
    """Say which recipe a run follows, and what is different from it.

    >>> from counterpoint import simclr, NarrowResNet
    >>> recipe_words(simclr(NarrowResNet()), training_of("simclr", batch=64))
    'simclr with another encoder; batch 64 for 512'
    """
    near = [(name, parts, _changes(training, name)) for name, parts in _nearest(method)]
    name, parts, changed = min(near, key=lambda found: len(found[2]))
    if len(parts) > FAR:
        return "your own"
    said = name if not parts else f"{name} with another {', '.join(parts)}"
    return "; ".join((said, ", ".join(changed))) if changed else said


def _changes(training: Training, name: str) -> list[str]:
    own, now = asdict(RECIPES[name].training), asdict(training)
    return [
        f"{key} {_plain(value)} for {_plain(own[key])}"
        for key, value in now.items()
        if key not in HOW and value != own[key]
    ]


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _nearest(method: Method) -> list[tuple[str, tuple[str, ...]]]:
    """List the recipes that differ in the fewest parts, and those parts."""
    sides = {SIDE, *(number for number in _numbers(method.views) if number >= SMALLEST)}
    own, found = _plain_parts(method), []
    for name, compose in METHODS.items():
        for side in sorted(sides):
            recipe = _recipe_parts(compose, side)
            if recipe is not None:
                found.append((name, tuple(part for part in own if own[part] != recipe[part])))
    least = min(len(different) for _, different in found)
    return list({name: (name, parts) for name, parts in found if len(parts) == least}.values())


@cache
def _recipe_parts(compose: Callable[..., Method], side: int) -> dict[str, object] | None:
    """Return the parts of a recipe; None where it does not go with images of this size."""
    try:
        return _plain_parts(compose(size=side))
    except ValueError:
        return None


def _plain_parts(method: Method) -> dict[str, object]:
    """Return parts to compare; samples and pixels are those of the images, or of the weights."""
    method = method.for_samples(1)
    return {name: with_pixels(getattr(method, name), ANY) for name in FIVE}


def _numbers(settings: object) -> Iterator[int]:
    """Return all whole numbers in some settings: the side of its images is among those of views."""
    if isinstance(settings, int):
        yield settings
    elif isinstance(settings, tuple):
        for item in settings:
            yield from _numbers(item)
    elif is_dataclass(settings):
        for place in fields(settings):
            yield from _numbers(getattr(settings, place.name))
