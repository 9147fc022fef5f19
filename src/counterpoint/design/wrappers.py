"""What a search may put around a part or into its views, and take away again."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from counterpoint.design.settings_tree import mapped, nodes
from counterpoint.parts.encoders import (
    Headed,
    MomentumEncoder,
    QueryKeyEncoder,
    replace_innermost,
)
from counterpoint.parts.encoders.innermost import innermost
from counterpoint.parts.extraction import NearestAnchors, OneWay, Queue, StopGradient
from counterpoint.parts.losses import NearestEntropy, Penalised
from counterpoint.parts.similarity import Biased, CyclicTau
from counterpoint.parts.views import (
    ColourJitter,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    Pipeline,
    Solarise,
)


def _tau_of_one(similarity: Any) -> Any:
    """Give a similarity a tau of 1, since `CyclicTau` divides by one of its own."""
    has_tau = any(place.name == "tau" for place in fields(similarity))
    return replace(similarity, tau=1.0) if has_tau else similarity


def _cyclic(similarity: Any) -> CyclicTau:
    return CyclicTau(of=_tau_of_one(similarity), lowest=0.1, highest=0.5, cycles=2.0)


def _head(encoder: Any) -> Any:
    """Put a head on the network itself: a twin has to be around it."""
    head = Headed(of=innermost(encoder), out=128, hidden=512, norm=True)
    return replace_innermost(encoder, head)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A class that may be around a part, and how it is put there."""

    name: str
    put: Callable[[Any], Any]
    only: str = ""
    """The class that it takes inside; any if not given."""


WRAPPERS: Mapping[str, tuple[Wrapper, ...]] = {
    "encoder": (
        Wrapper("Headed", _head),
        Wrapper("MomentumEncoder", lambda part: MomentumEncoder(of=part, decay=0.99)),
        Wrapper("QueryKeyEncoder", lambda part: QueryKeyEncoder(of=part, decay=0.99, groups=1)),
    ),
    "extraction": (
        Wrapper("Queue", lambda part: Queue(of=part, size=4096)),
        Wrapper("NearestAnchors", lambda part: NearestAnchors(of=part, size=4096)),
        Wrapper("StopGradient", lambda part: StopGradient(of=part)),
        Wrapper("OneWay", lambda part: OneWay(of=part), only="Compare"),
    ),
    "similarity": (
        Wrapper("CyclicTau", _cyclic),
        Wrapper("Biased", lambda part: Biased(of=part)),
    ),
    "loss": (
        Wrapper("Penalised", lambda part: Penalised(of=part)),
        Wrapper("NearestEntropy", lambda part: NearestEntropy(of=part, weight=10.0)),
    ),
}
"""What may be around each part.

Settings are those of our small recipes; the table of choices changes them later.
"""

STAGES: tuple[tuple[str, Callable[[int], Any]], ...] = (
    ("HorizontalFlip", lambda _side: HorizontalFlip(0.5)),
    ("ColourJitter", lambda _side: ColourJitter(0.4, 0.4, 0.4, 0.1, p=0.8)),
    ("Greyscale", lambda _side: Greyscale(0.2)),
    ("GaussianBlur", lambda side: GaussianBlur(max(3, side // 20 * 2 + 1))),
    ("Solarise", lambda _side: Solarise(0.5, p=0.2)),
)
"""Stages that a pipeline may have or not, in the order in which they stand (SimCLR and BYOL)."""

FIRST = ("RandomResizedCrop", "Translation", "Resize", "CentreCrop")
"""Stages that stand before them; all others stand behind."""


@dataclass(frozen=True, slots=True)
class Toggle:
    """A wrapper or a stage that can be put on, or taken off, and what the part then is."""

    words: str
    apply: Callable[[], Any]


def toggles(place: str, part: Any, side: int | None) -> Iterator[Toggle]:
    """Yield what can be put on a part or taken off it; `side` is that of the images.

    >>> from counterpoint.methods import moco_small
    >>> for toggle in toggles("extraction", moco_small().extraction, 32):
    ...     print(toggle.words)
    without Queue
    with NearestAnchors
    with StopGradient
    """
    if place == "views":
        yield from _stage_toggles(part, side)
        return
    there = [type(node).__name__ for node in nodes(part)]
    for wrapper in WRAPPERS[place]:
        if wrapper.name in there:
            yield Toggle(f"without {wrapper.name}", partial(_without, part, wrapper.name))
        elif wrapper.only in ("", there[0]):
            yield Toggle(f"with {wrapper.name}", partial(wrapper.put, part))


def _without(part: Any, name: str) -> Any:
    return mapped(part, lambda node: node.of if type(node).__name__ == name else node)


def _stage_toggles(views: Any, side: int | None) -> Iterator[Toggle]:
    """Yield the same for the stages of each pipeline."""
    pipelines = [node for node in nodes(views) if isinstance(node, Pipeline)]
    for number, pipeline in enumerate(dict.fromkeys(pipelines), start=1):
        which = "" if len(pipelines) == 1 else f", pipeline {number}"
        there = [type(stage).__name__ for stage in pipeline.stages]
        for name, make in STAGES:
            if name in there:
                kept = tuple(one for one in pipeline.stages if type(one).__name__ != name)
                words = f"without {name}{which}"
            elif side is not None:
                kept = _with_stage(pipeline.stages, make(side))
                words = f"with {name}{which}"
            else:
                continue
            other = replace(pipeline, stages=kept)
            yield Toggle(words, partial(_exchanged, views, pipeline, other))


def _exchanged(views: Any, old: Pipeline, new: Pipeline) -> Any:
    return mapped(views, lambda node: new if node == old else node)


def _with_stage(stages: tuple[Any, ...], stage: Any) -> tuple[Any, ...]:
    """Put a stage where it belongs: behind the geometry and the stages that come before it."""
    names = [name for name, _ in STAGES]
    before = {*FIRST, *names[: names.index(type(stage).__name__)]}
    place = next(
        (n for n, one in enumerate(stages) if type(one).__name__ not in before), len(stages)
    )
    return (*stages[:place], stage, *stages[place:])
