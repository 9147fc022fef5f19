"""How many candidates there are."""

from collections.abc import Sequence
from math import prod

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import image_side
from counterpoint.design.choices import choices_for
from counterpoint.design.settings_tree import sites, values_of, with_value
from counterpoint.framework.method import FIVE


def space_size(pool: Sequence[Candidate]) -> int:
    """Count the candidates that the parts of a pool and the table of choices make.

    A part has as many forms as its settings have values together. Parts that differ in these
    settings alone are one. Forms that are refused count; what wrappers and optional stages add
    does not.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> f"{space_size(known(32, NarrowResNet())):.0e}"
    '1e+21'
    """
    table = choices_for(image_side(pool[0].method))
    training = prod(len(values) for key, values in table.items() if key[0] == "Training")
    return training * prod(forms_of(place, pool) for place in FIVE)


def forms_of(place: str, pool: Sequence[Candidate]) -> int:
    """Count the forms of one of the five parts.

    >>> from counterpoint import NarrowResNet
    >>> from counterpoint.design.population import known
    >>> forms_of("loss", known(32, NarrowResNet())[:3])  # NCE, and NCE with a penalty
    40
    """
    found: dict[object, int] = {}
    for one in pool:
        table = choices_for(image_side(one.method))
        part, forms = getattr(one.method, place), 1
        for site in sites(part, table):
            values = values_of(site, table)
            part, forms = with_value(part, site, values[0]), forms * len(values)
        found[part] = forms  # parts that are equal now had the same settings to change
    return sum(found.values())
