"""The smallest number that an option takes, looked at before anything is imported or opened."""

from collections.abc import Mapping

LEAST = {
    "accumulate": 1,
    "at_once": 1,
    "batch_size": 1,
    "cpus": 1,
    "devices": 1,
    "epochs": 1,
    "images": 1,
    "limit": 1,
    "most": 1,
    "retries": 0,
    "robustness": 0,
    "save_seconds": 0,
    "seed": 0,
    "seeds": 1,
    "size": 1,
    "steps": 1,
    "workers": 0,
}
"""By the name of the option, which means the same in every command."""


def refuse_out_of_bounds(options: Mapping[str, object]) -> None:
    """Refuse a number of nothing, or of less.

    >>> refuse_out_of_bounds({"steps": 0})
    Traceback (most recent call last):
        ...
    ValueError: --steps is 0; it needs to be 1 or more
    """
    for name, least in LEAST.items():
        value = options.get(name)
        if isinstance(value, int | float) and value < least:
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag} is {value}; it needs to be {least} or more")
