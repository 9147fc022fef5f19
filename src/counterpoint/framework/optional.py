"""What a part may offer besides its contract; a part without it has the default.

| attribute | of | default | who asks |
|---|---|---|---|
| `needs_one_size` | a stage of a pipeline | False: it moves pixels of any sizes at once | cutting |
| `for_samples(n)` | settings of an extraction | the same settings | pretraining, before it builds |
| `row_buffers`, ... (`LongMemory`) | a module | whole on every rank | training, of ranks |
| `held_out` | settings of an extraction | True | the search for a learning rate |
| `needs_labels` | settings of any part | False | who makes `Samples` |
| `average` | a built loss | "anchors": a sum over them; "batch": one number of all | wrappers |
| `anchors_only` | a built loss | False: it reads candidates, too | `build` |
| `needs_cosine` | a built loss | False: any scores will do | `build` |
| `cosine` | a built similarity | True: a bound is that of a cosine over a constant tau | `build` |
| `takes_slices` | a built loss | 0: it cannot; else how often it walks over them | `contrast` |
| `online`, `target`, `step`, `restart` (`Twinned`) | a built encoder or head | no twin | steps |
| `probe` | a built encoder | -1, the last map | evaluation |
| `needs_all_views` | a built encoder | False: it takes any number | health |
| `library` | settings of an encoder | "": who has weights of its name | weights |
| `classifier` | settings of an encoder | (): layers of its library that it leaves out | weights |
| `pixels` | settings of an encoder | None: how its library's weights see pixels | weights |
| `backbone`, `made_by` | a built encoder | itself, None | a run that is saved |
| `block_modules()` | a module | its lists of modules | sharding, activation checkpointing |
| `without_head` | a built encoder | itself | export |
| `architecture`, `library_lines` | a built encoder | None | export |
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol, runtime_checkable

from torch import nn

from counterpoint.framework.contracts import BuiltEncoder, Encoder, Extraction
from counterpoint.framework.pixels import Pixels
from counterpoint.framework.records import Maps, View


def needs_one_size(stage: object) -> bool:
    """Return whether a stage that moves pixels has to know the one size of all its images."""
    return bool(getattr(stage, "needs_one_size", False))


@runtime_checkable
class ForSamples(Protocol):
    """Settings of an extraction that remembers something of every sample, as a bank does."""

    def for_samples(self, samples: int, /) -> Extraction:
        """Return the same settings for a data set of N samples."""


def fit_samples(extraction: Extraction, samples: int) -> Extraction:
    """Return the extraction for a data set of N samples."""
    return extraction.for_samples(samples) if isinstance(extraction, ForSamples) else extraction


def held_out(extraction: Extraction) -> bool:
    """Return whether the loss means something on images that are not trained on."""
    return bool(getattr(extraction, "held_out", True))


def asks_for_labels(parts: Iterable[object]) -> bool:
    """Return whether one of some parts, or a part inside of it, says `needs_labels`."""
    for part in parts:
        if getattr(part, "needs_labels", False):
            return True
        if isinstance(part, tuple) and asks_for_labels(part):
            return True
        if is_dataclass(part) and asks_for_labels(getattr(part, f.name) for f in fields(part)):
            return True
    return False


def anchors_only(loss: object) -> bool:
    """Return whether a loss reads the anchors and no candidates, as those of features do."""
    return bool(getattr(loss, "anchors_only", False))


def needs_cosine(loss: object) -> bool:
    """Return whether a loss takes a score over its bound for the cosine of the angle."""
    return bool(getattr(loss, "needs_cosine", False))


def is_cosine(similarity: object) -> bool:
    """Return whether scores with a bound are cosines over a constant tau."""
    return bool(getattr(similarity, "cosine", True))


def takes_slices(loss: object) -> int:
    """Return how often the forward pass of a loss walks over slices of candidates; 0: it cannot."""
    return int(getattr(loss, "takes_slices", 0))


@runtime_checkable
class Twinned(Protocol):
    """A built encoder or head with a twin that gives the candidates, as `Momentum` is."""

    online: nn.Module
    """What is trained and evaluated."""

    def target(self, views: tuple[View, ...], /) -> tuple[Maps, ...]:
        """Encode by the twin, perhaps only some of the views."""

    def step(self, progress: float, /) -> None:
        """Let the twin follow after an update; `progress` is the share of all that are done."""

    def restart(self) -> None:
        """Make the twin equal to what is trained, which was given other weights."""


def trained(encoder: BuiltEncoder | nn.Module) -> nn.Module:
    """Return what is trained: the encoder without its twin."""
    found = encoder.online if isinstance(encoder, Twinned) else encoder
    assert isinstance(found, nn.Module)
    return found


def probe_of(encoder: object) -> int:
    """Return the map that is evaluated."""
    return int(getattr(encoder, "probe", -1))


def needs_all_views(encoder: object) -> bool:
    """Return whether an encoder takes all views of a sample or none, as one for each does."""
    return bool(getattr(encoder, "needs_all_views", False))


def backbone_of(encoder: nn.Module) -> nn.Module:
    """Return the network with the key names of the library that it came from."""
    found = getattr(encoder, "backbone", encoder)
    assert isinstance(found, nn.Module)
    return found


def classifier_of(encoder: Encoder) -> tuple[str, ...]:
    """Return the layers of its library's classifier, which an encoder does not have."""
    found: tuple[str, ...] = getattr(encoder, "classifier", ())
    return found


def library_pixels(encoder: Encoder) -> Pixels | None:
    """Return how the weights of its library want to see pixels, if that is known."""
    found: Pixels | None = getattr(encoder, "pixels", None)
    return found


def made_by(encoder: object) -> str | None:
    """Return the line of a library that makes the same backbone, if there is one."""
    found: str | None = getattr(encoder, "made_by", None)
    return found


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network of timm with the key names of a backbone: its name, and what it is made with."""

    name: str
    args: dict[str, Any]


def architecture_of(encoder: object) -> Architecture | None:
    """Return the network of timm that the backbone's weights load into, if there is one."""
    found: Architecture | None = getattr(encoder, "architecture", None)
    return found


def library_lines(encoder: object) -> str | None:
    """Return lines of Python that make the same backbone as `model`, if there are some."""
    found: str | None = getattr(encoder, "library_lines", None)
    return found


def without_head(encoder: nn.Module) -> nn.Module:
    """Return the encoder whose last map is the one that is evaluated."""
    found = getattr(encoder, "without_head", encoder)
    assert isinstance(found, nn.Module)
    return found
