"""Settings as Python source, laid out as `ruff format` lays it out."""

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

WIDTH = 100
"""Characters in a line, as in this project."""

Named = Callable[[type], str]
"""What a class is called in the source."""


def source_lines(
    value: object, named: Named, *, before: str = "", after: str = "", indent: int = 0
) -> Iterator[str]:
    """Yield the lines of an expression; settings that are the default are left out.

    What does not fit into a line is broken up at its outer brackets: all that is inside of them in
    one line, or one line for each.

    >>> from counterpoint.parts.similarity import Cosine
    >>> list(source_lines(Cosine(tau=0.1), lambda kind: kind.__name__, before="phi = "))
    ['phi = Cosine(tau=0.1)']
    """
    whole = f"{' ' * indent}{before}{flat(value, named)}{after}"
    inside = list(_items(value))
    if len(whole) <= WIDTH or not inside:
        yield whole
        return
    opening, closing = _brackets(value, named)
    yield f"{' ' * indent}{before}{opening}"
    body = ", ".join(f"{key}{flat(item, named)}" for key, item in inside)
    if indent + 4 + len(body) <= WIDTH and len(inside) > 1:
        yield f"{' ' * (indent + 4)}{body}"
    else:
        # A comma behind the only argument of a call is not the formatter's.
        comma = "," if len(inside) > 1 or isinstance(value, tuple) else ""
        for key, item in inside:
            yield from source_lines(item, named, before=key, after=comma, indent=indent + 4)
    yield f"{' ' * indent}{closing}{after}"


def flat(value: object, named: Named) -> str:
    """Write an expression in one line.

    >>> flat((1, "a"), str), flat((0.5,), str)
    ('(1, "a")', '(0.5,)')
    """
    if isinstance(value, str):
        return json.dumps(value)
    if not isinstance(value, tuple) and not is_dataclass(value):
        return repr(value)
    opening, closing = _brackets(value, named)
    inside = ", ".join(f"{key}{flat(item, named)}" for key, item in _items(value))
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return f"{opening}{inside}{comma}{closing}"


def _brackets(value: object, named: Named) -> tuple[str, str]:
    return ("(" if isinstance(value, tuple) else f"{named(type(value))}("), ")"


def _items(value: Any) -> Iterator[tuple[str, object]]:
    """Yield what stands between the brackets: the name of a setting with =, and its value."""
    if isinstance(value, tuple):
        yield from (("", item) for item in value)
    elif is_dataclass(value):
        for place in fields(value):
            given = getattr(value, place.name)
            needed = place.default is MISSING and place.default_factory is MISSING
            if needed or given != place.default:
                yield ("" if needed and not place.kw_only else f"{place.name}="), given
