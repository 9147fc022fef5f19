"""Config files: a flat list of options, read as plain data; nothing is run or imported."""

from typing import Any

LENGTH = 64 << 10
"""Characters of a config file; all options of a command take 600."""

DEPTH = 2
"""The options, and lists of values."""


def read_options(text: str) -> Any:
    r"""Read a value or a config file as YAML without aliases, tags and deep nesting.

    An alias is how 400 bytes become a billion values, and the YAML library crashes on brackets
    that are nested 50,000 deep. `parts` names code, so only the one who types may give it.

    >>> read_options("seed: 3")
    {'seed': 3}
    >>> read_options("a: &a [1]\nb: *a")
    Traceback (most recent call last):
        ...
    ValueError: config: got an alias, needs plain values; write the value out
    """
    import yaml
    from jsonargparse import get_loader

    try:
        _refuse_tricks(text)
        found = get_loader("yaml")(text)
    except yaml.YAMLError as error:
        raise ValueError(f"config: {error}") from error
    for key, value in found.items() if isinstance(found, dict) else ():
        if key == "parts" and value is not None:
            raise ValueError("config: got parts, which is code that is run; type --parts instead")
        if type(value) is int and abs(value) >= 2**63:
            raise ValueError(f"config: the number of {key!r} is too large")
    return found


def _refuse_tricks(text: str) -> None:
    """Look at the words of the text, before anything is made of them."""
    import yaml

    if len(text) > LENGTH:
        raise ValueError(f"config: got {len(text)} characters, at most {LENGTH}")
    level = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ValueError("config: got an alias, needs plain values; write the value out")
        if getattr(event, "tag", None) is not None:
            raise ValueError("config: got a tag, needs plain values; leave the ! out")
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > DEPTH:
            raise ValueError(f"config: nested deeper than {DEPTH} levels")
