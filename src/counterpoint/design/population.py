"""The first population of a search: the methods that are known."""

from counterpoint.design.candidate import Candidate, training_pairs
from counterpoint.framework import Encoder
from counterpoint.methods import RECIPES, method_named

SMALL = "-small"


def known(side: int, encoder: Encoder) -> list[Candidate]:
    """Return every method's small recipe for images of one side, but those that need labels.

    `encoder` takes the place of the innermost one; the twin and the head around it stay.

    >>> from counterpoint import NarrowResNet
    >>> [one.change for one in known(32, NarrowResNet())][:3]
    ['amdim-small', 'cpc-small', 'simclr-small']
    """
    names = [name for name in RECIPES if name.endswith(SMALL)]
    composed = {name: method_named(name, size=side, encoder=encoder) for name in names}
    return [
        Candidate(method=method, training=training_pairs(RECIPES[name].training), change=name)
        for name, method in composed.items()
        if not method.needs_labels
    ]
