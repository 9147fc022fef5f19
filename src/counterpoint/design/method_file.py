"""A candidate as a Python file of one screen, which trains it on a folder of images."""

from collections.abc import Iterator

import counterpoint
from counterpoint.design.candidate import Candidate
from counterpoint.design.python_source import source_lines
from counterpoint.design.settings_tree import nodes
from counterpoint.framework.method import FIVE

MAIN = """
if __name__ == "__main__":
    length = int(sys.argv[3]) if sys.argv[3:] else None
    cp.pretrain(METHOD, sys.argv[1], out=sys.argv[2], training=TRAINING, steps=length)
"""


def method_source(candidate: Candidate, *, name: str) -> str:
    """Return a Python file with the values METHOD and TRAINING, and a program that trains.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> siglip = next(one for one in known(32, NarrowResNet()) if one.change == "siglip-small")
    >>> text = method_source(siglip, name="mine")
    >>> print(text[: text.index("METHOD")].strip())
    \"\"\"mine, found by search. Train it: python method.py FOLDER OUT [STEPS].\"\"\"
    <BLANKLINE>
    import sys
    <BLANKLINE>
    import counterpoint as cp
    from counterpoint.parts.losses import Sigmoid
    from counterpoint.parts.similarity import Biased
    """
    method = candidate.method
    lines = [
        f'"""{name}, found by search. Train it: python method.py FOLDER OUT [STEPS]."""',
        "",
        "import sys",
        "",
        "import counterpoint as cp",
        *_imports(candidate),
        "",
        "METHOD = cp.Method(",
    ]
    for place in FIVE:
        part = getattr(method, place)
        lines += source_lines(part, _called, before=f"{place}=", after=",", indent=4)
    lines += [")", ""]
    lines += source_lines(candidate.settings, _called, before="TRAINING = ")
    return "\n".join(lines) + "\n" + MAIN


def _called(kind: type) -> str:
    """Call a public class by the name of the package, any other by its own."""
    public = kind.__name__ in counterpoint.__all__
    return f"cp.{kind.__name__}" if public else kind.__name__


def _imports(candidate: Candidate) -> Iterator[str]:
    """Yield a line for each folder of parts that has classes which are not public names."""
    homes: dict[str, list[str]] = {}
    for place in FIVE:
        for node in nodes(getattr(candidate.method, place)):
            kind = type(node)
            if _called(kind) == kind.__name__:
                home = ".".join(kind.__module__.split(".")[:3])  # counterpoint.parts.losses, say
                homes.setdefault(home, []).append(kind.__name__)
    for home in sorted(homes):
        yield f"from {home} import {', '.join(sorted(set(homes[home])))}"
