"""The minimum of each numeric option, checked before anything is imported or opened."""

from collections.abc import Mapping

MINIMUM = {
    "accumulate": 1,
    "at_once": 1,
    "batch_size": 1,
    "block_shards": 1,
    "candidates": 1,
    "copies": 0,
    "count": 1,
    "cpus": 1,
    "devices": 1,
    "epochs": 1,
    "full_epochs": 0,
    "gpus": 0,
    "gpus_per_node": 0,
    "halved": 0,
    "hours": 0,
    "images": 1,
    "keep": 2,
    "keep_hours": 0,
    "kilobytes": 0,
    "labelled": 1,
    "lanes": 1,
    "limit": 1,
    "lr": 0,
    "max_bad": 0,
    "nodes": 1,
    "part_size": 1,
    "patience": 0,
    "precision": 0,
    "price": 0,
    "processes_per_node": 1,
    "restarts": 0,
    "retries": 0,
    "robustness": 0,
    "rounds": 1,
    "save_seconds": 0,
    "seconds": 0,
    "seed": 0,
    "seeds": 1,
    "select": 1,
    "shard_size": 1,
    "shipped": 1,
    "signal_seconds": 1,
    "size": 1,
    "slice_megabytes": 0,
    "slices": 1,
    "speed": 0,
    "steps": 1,
    "top": 1,
    "weight_decay": 0,
    "workers": 0,
}
"""By name of the option; an option means the same in every command."""
ABOVE = {"full_epochs", "speed"}
"""Those of which the minimum itself is too small."""


def refuse_out_of_bounds(options: Mapping[str, object]) -> None:
    """Refuse a number below its minimum.

    >>> refuse_out_of_bounds({"steps": 0})
    Traceback (most recent call last):
        ...
    ValueError: --steps is 0; it needs to be 1 or more
    >>> refuse_out_of_bounds({"speed": 0.0})
    Traceback (most recent call last):
        ...
    ValueError: --speed is 0.0; it needs to be more than 0
    """
    for name, minimum in MINIMUM.items():
        value = options.get(name)
        if not isinstance(value, int | float):
            continue
        above = name in ABOVE
        if not (value > minimum if above else value >= minimum):
            flag = "--" + name.replace("_", "-")
            needs = f"more than {minimum}" if above else f"{minimum} or more"
            raise ValueError(f"{flag} is {value}; it needs to be {needs}")
