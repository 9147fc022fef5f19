"""The size of the space against a list of it."""

from counterpoint.design.choices import choices_for
from counterpoint.design.settings_tree import sites, values_of, with_value
from counterpoint.design.space_size import forms_of
from design.compositions import population

TABLE = choices_for(32)


def listed(part):
    """Every form of a part: all values of its first site, of each all of the second, and so on."""
    forms = {part}
    for site in sites(part, TABLE):
        values = values_of(site, TABLE)
        forms = {with_value(form, site, value) for form in forms for value in values}
    return forms


def test_the_forms_of_a_part_are_as_many_as_can_be_listed():
    for place in ("extraction", "similarity"):
        parts = {getattr(one.method, place) for one in population()}  # several have the same
        forms = set().union(*map(listed, parts))
        assert forms_of(place, population()) == len(forms)
