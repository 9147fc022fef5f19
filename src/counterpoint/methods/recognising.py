"""Which recipe a method is, or was made from, and so how it is trained."""

from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

from counterpoint.framework import Method
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.settings import MACHINE, Training
from counterpoint.methods.known import METHODS, RECIPES
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
    families = {name.partition("-")[0] for name in names}
    if len(near[0][1]) > FAR or len(families) > 1:
        return None
    return names[0]


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
    method = method.for_samples(1)  # pretraining sets it
    sides = {SIDE, *(number for number in _numbers(method.views) if number >= SMALLEST)}
    found = []
    for name, compose in METHODS.items():
        for side in sorted(sides):
            try:
                recipe = compose(size=side).for_samples(1)
            except ValueError:  # this recipe does not go with images of this size
                continue
            pairs = ((p, getattr(recipe, p), getattr(method, p)) for p, _ in method.rows())
            found.append((name, tuple(part for part, one, other in pairs if _differ(one, other))))
    least = min(len(different) for _, different in found)
    return list({name: (name, parts) for name, parts in found if len(parts) == least}.values())


def _differ(one: object, other: object) -> bool:
    """Compare parts; how views are normalised is the weights' or the images' business."""
    return one != other and with_pixels(one, ANY) != with_pixels(other, ANY)


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
