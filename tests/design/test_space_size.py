"""The size of the space against a list of it."""

from itertools import product

from counterpoint.design.choices import choices_for
from counterpoint.design.settings_tree import sites, values_of, with_value
from counterpoint.design.space_size import forms_of
from design.compositions import population

TABLE = choices_for(32)


def test_the_forms_of_a_part_are_as_many_as_can_be_listed():
    for place in ("extraction", "similarity"):
        listed = set()
        for one in population():
            part = getattr(one.method, place)
            found = sites(part, TABLE)
            for values in product(*(values_of(site, TABLE) for site in found)):
                form = part
                for site, value in zip(found, values, strict=True):
                    form = with_value(form, site, value)
                listed.add(form)
        assert forms_of(place, population()) == len(listed)
