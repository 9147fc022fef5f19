"""What the fields of a trial may be: a mistake is said where it is made, not hours later."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from counterpoint.framework import codec
from counterpoint.framework.settings import POSITIVE, Training

NEEDS = {
    "method": "a name of counterpoint methods, or a method's JSON: give a str",
    "data": "the name of a folder or a file: give a str",
    "budget": "give Images(n), Flops(n) or Seconds(n)",
    "seed": "give an int of 0 or more",
    "kind": "give 'pretrain', 'supervised' or 'random'",
    "encoder": "a name, or an encoder's JSON: give a str or None",
    "swaps": "give pairs of str in a tuple, such as (('extraction', '(-1:-1)'),)",
    "training": "give pairs in a tuple, such as (('batch', 64),); study.pairs makes them",
    "rates": "give numbers above 0 in a tuple, such as (0.001, 0.003)",
    "parts": "the name of a Python file: give a str or None",
    "size": "give an int of 1 or more, or None",
    "limit": "give an int of 1 or more, or None",
    "probes": "give str in a tuple, such as ('knn', 'linear')",
    "criteria": "give str in a tuple, such as ('rankme',)",
    "labelled": "give an int of 1 or more, or None",
    "untested": "give True or False",
    "name": "give a str",
    "row": "give a str",
    "column": "give a str",
}
"""For each field what it needs, in words."""
LEAST = {"seed": 0, "size": 1, "limit": 1, "labelled": 1}
WORDS: dict[object, str] = {bool: "True or False", int: "an int", float: "a number"}


def refuse_other_kinds(given: Mapping[str, object], hints: Mapping[str, Any]) -> None:
    """Refuse the first field whose value is of another kind than declared, or too small.

    >>> refuse_other_kinds({"seed": "1"}, {"seed": int})
    Traceback (most recent call last):
        ...
    ValueError: study: seed of a trial is '1'; give an int of 0 or more
    """
    for name, value in given.items():
        if not codec.fits(value, hints[name]) or _too_small(name, value):
            raise ValueError(f"study: {name} of a trial is {value!r}; {NEEDS[name]}")


def refuse_unfit_training(training: tuple[tuple[str, object], ...]) -> None:
    """Refuse a training setting that `Training` does not take, whatever the others are.

    >>> refuse_unfit_training((("lr", -0.1),))
    Traceback (most recent call last):
        ...
    ValueError: study: lr in training of a trial is -0.1; needs a number, more than 0
    """
    for name, value in training:
        hint = _settings()[name]
        above = name in POSITIVE and isinstance(value, int | float)
        if not codec.fits(value, hint) or (above and not _above_zero(value)):
            more = ", more than 0" * (name in POSITIVE)
            raise ValueError(
                f"study: {name} in training of a trial is {value!r}; needs {_in_words(hint)}{more}"
            )


def _too_small(name: str, value: object) -> bool:
    if name == "rates":
        assert isinstance(value, tuple)
        return not all(map(_above_zero, value))
    return name in LEAST and isinstance(value, int) and value < LEAST[name]


def _above_zero(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def _in_words(hint: Any) -> str:
    """Say what a training setting may be.

    >>> _in_words(int | None), _in_words(Literal["adam", "sgd"]), _in_words(tuple[float, float])
    ('an int or None', "one of 'adam', 'sgd'", 'tuple[float, float]')
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if kind is not tuple and inner:
        return " or ".join("None" if one is type(None) else _in_words(one) for one in inner)
    return WORDS.get(hint, str(hint))


@cache
def _settings() -> dict[str, Any]:
    return get_type_hints(Training)
