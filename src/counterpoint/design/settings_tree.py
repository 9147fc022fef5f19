"""Settings as a tree of dataclasses: found by the name of their class, and changed in place."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from counterpoint.design.choices import Key


@dataclass(frozen=True, slots=True)
class Site:
    """A setting, or several together, with the value that they have now.

    Settings of one class that have the same value are one site: the two networks of CMC stay alike.
    """

    key: Key
    value: Any
    """A tuple with the value of each setting."""

    @property
    def names(self) -> tuple[str, ...]:
        """The settings."""
        return tuple(self.key[1].split())


def nodes(tree: object) -> Iterator[Any]:
    """Yield every dataclass in some settings, outer before inner.

    >>> from counterpoint.methods import moco_small
    >>> [type(node).__name__ for node in nodes(moco_small().encoder)]
    ['QueryKeyEncoder', 'Headed', 'NarrowResNet']
    """
    if isinstance(tree, tuple):
        for item in tree:
            yield from nodes(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        yield tree
        for place in fields(tree):
            yield from nodes(getattr(tree, place.name))


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return settings with every dataclass replaced by what `change` makes of it, inner first.

    >>> from counterpoint.methods import moco_small
    >>> print(mapped(moco_small().encoder, lambda node: getattr(node, "of", node)))
    NarrowResNet(widths=(64, 128, 256), blocks=(1, 1, 1), stride=2)
    """
    if isinstance(tree, tuple):
        return tuple(mapped(item, change) for item in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    now = {place.name: getattr(tree, place.name) for place in fields(tree)}
    new = {name: mapped(value, change) for name, value in now.items()}
    changed = {name: value for name, value in new.items() if value is not now[name]}
    changed = {name: value for name, value in changed.items() if value != now[name]}
    return change(replace(tree, **changed) if changed else tree)


def sites(tree: object, table: Mapping[Key, tuple[Any, ...]]) -> list[Site]:
    """List the settings that a table has values for, each site once, outer before inner.

    >>> from counterpoint.methods import moco_small
    >>> sites(moco_small().similarity, {("Cosine", "tau"): (0.1, 0.2)})
    [Site(key=('Cosine', 'tau'), value=(0.2,))]
    """
    found: dict[Site, None] = {}
    for node in nodes(tree):
        for key in table:
            if key[0] == type(node).__name__:
                found[Site(key, tuple(getattr(node, name) for name in key[1].split()))] = None
    return list(found)


def values_of(site: Site, table: Mapping[Key, tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """List the values of a site as tuples, one entry for each of its settings.

    >>> site = Site(("Cosine", "tau"), (0.2,))
    >>> values_of(site, {("Cosine", "tau"): (0.1, 0.2)})
    [(0.1,), (0.2,)]
    """
    several = len(site.names) > 1
    return [value if several else (value,) for value in table[site.key]]


def with_value(tree: Any, site: Site, value: tuple[Any, ...]) -> Any:
    """Return settings with another value at a site.

    >>> from counterpoint.methods import moco_small
    >>> print(with_value(moco_small().similarity, Site(("Cosine", "tau"), (0.2,)), (0.1,)))
    Cosine(tau=0.1, learn_tau=False)
    """

    def change(node: Any) -> Any:
        here = type(node).__name__ == site.key[0]
        if not here or tuple(getattr(node, name) for name in site.names) != site.value:
            return node
        return replace(node, **dict(zip(site.names, value, strict=True)))

    return mapped(tree, change)
