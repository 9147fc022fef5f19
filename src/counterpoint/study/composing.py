"""From a trial to what runs: the images, the method and the settings of training."""

import os
from functools import lru_cache

from counterpoint.data import Splits, open_data
from counterpoint.framework import Encoder, Method, codec
from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, method_named, read_method, training_of
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named
from counterpoint.parts.extraction import Compare
from counterpoint.parts.own import own_parts
from counterpoint.study.trial import Trial

SIDE = 32  # to read a method that is JSON, which has a size of its own


def opened(trial: Trial) -> Splits:
    """Open the images of a trial; those of the last one are still open."""
    place = os.path.expandvars(trial.data)
    if "$" in place:
        raise ValueError(
            f"study: got the data {trial.data}, but that variable is not set; set it to a folder"
        )
    return _open(place, trial.limit)


@lru_cache(maxsize=1)
def _open(place: str, limit: int | None) -> Splits:
    return open_data(place, limit=limit)


def composed(trial: Trial, *, size: int) -> Method:
    """Compose the method of a trial for images of one side.

    >>> from counterpoint.study.budget import Images
    >>> asked = Trial(method="amdim-small", data="", budget=Images(1),
    ...     swaps=(("extraction", "(-1:-1)"),))
    >>> print(composed(asked, size=32).extraction)
    (-1:-1), one place
    """
    side = trial.size or size
    names = {**PARTS, **own_parts(trial.parts_file)}
    method = _base(trial, side, names)
    swaps = {part: _part(part, text, names) for part, text in trial.swaps}
    return method.swap(**swaps) if swaps else method


def training_for(trial: Trial) -> Training:
    """Give the settings that go with the method, with the trial's changes and seed.

    >>> from counterpoint.study.budget import Images
    >>> training_for(Trial(method="cpc-small", data="", budget=Images(1), seed=3,
    ...     training=(("batch", 32),))).batch
    32
    """
    changes = dict(trial.training)
    names = {**PARTS, **own_parts(trial.parts_file)}
    known = trial.method in METHODS
    method = trial.method if known else _base(trial, trial.size or SIDE, names)
    return training_of(method, seed=trial.seed, **changes)


def _base(trial: Trial, side: int, names: dict[str, type]) -> Method:
    """Compose by name or read JSON; an encoder keeps the twin or head that belongs around it."""
    encoder = None if trial.encoder is None else _encoder(trial.encoder, side, names)
    if trial.method.startswith("{"):
        method = read_method(trial.method, parts=names)
        return method if encoder is None else method.swap(encoder=encoder)
    if encoder is None or trial.method not in METHODS:
        return method_named(trial.method, size=side, parts=names)
    return METHODS[trial.method](encoder, size=side)


def _encoder(text: str, side: int, names: dict[str, type]) -> Encoder:
    if not text.startswith("{"):
        return encoder_named(text, size=side)
    found: Encoder = codec.decode(codec.from_text(text), names)
    return found


def _part(part: str, text: str, names: dict[str, type]) -> object:
    if text.startswith("{"):
        return codec.decode(codec.from_text(text), names)
    if part == "extraction":
        return Compare.parse(text)
    raise ValueError(f"study: got {text!r} for the part {part}, needs its JSON")
