"""The page of a search: its top, and its sections in order."""

from collections.abc import Callable

from counterpoint.design.confirm_run import data_name
from counterpoint.design.judging import lost
from counterpoint.design.report.compared_table import compared_section
from counterpoint.design.report.criterion_worth import criteria_words, worth_section
from counterpoint.design.report.descent_table import descent_section
from counterpoint.design.report.design_material import DesignMaterial, nearest_known
from counterpoint.design.report.expenses import expenses_section, losers_section, refused_section
from counterpoint.design.report.field_chart import field_section
from counterpoint.design.report.found_parts import distance_words, found_section
from counterpoint.design.report.part_shares import shares_section
from counterpoint.report.gallery_page import PageTop, gallery_page
from counterpoint.report.markup import el, join
from counterpoint.report.material import Section, code
from counterpoint.report.words import four_digits, percent

SECTIONS: tuple[Callable[[DesignMaterial], Section | None], ...] = (
    found_section,
    descent_section,
    compared_section,
    shares_section,
    field_section,
    worth_section,
    expenses_section,
    refused_section,
    losers_section,
)


def design_page(material: DesignMaterial) -> str:
    """Return the whole page of a search."""
    made = (make(material) for make in SECTIONS)
    sections = [one for one in made if one is not None]
    return gallery_page(_top(material), [*sections, again_section(material)])


def again_section(material: DesignMaterial) -> Section:
    """Show the command that makes the search again."""
    button = el("button", {"type": "button", "class": "copy", "hidden": ""}, "Copy")
    lines = el("pre", {"tabindex": 0}, code(material.again))
    said = (
        "On one kind of machine and with the same versions the same command finds the same "
        "candidates and the same figures. Hours and rounds decide when it ends, not what is in a "
        "round."
    )
    body = [el("div", {"class": "commands"}, lines, button), el("p", {}, said)]
    return Section("again", "Make it again", join(body))


def chosen_words(material: DesignMaterial) -> str:
    """Say by what candidates were chosen."""
    settings = material.found.settings
    if settings.labels is not None:
        return f"the {settings.labels} probe on validation images"
    return f"{criteria_words(settings.criteria)}, without labels"


def _top(material: DesignMaterial) -> PageTop:
    found = material.found
    data = data_name(found.settings.data)
    gone = sum(lost(o.figures) for o in found.outcomes.values())
    refused = sum(len(made.refused) for made in found.rounds)
    flops = sum(o.cost.flops for o in found.outcomes.values())
    rounds = "1 round" if len(found.rounds) == 1 else f"{len(found.rounds):,} rounds"
    proposed = max(1, len(material.candidates) + refused)
    return PageTop(
        word="design",
        title=f"A method for {data}",
        lead=_lead(material),
        about=_about(material),
        tiles=[
            (f"{len(material.candidates):,}", "candidates", f"in {rounds}"),
            (f"{len(found.outcomes):,}", "trials", f"{gone:,} collapsed or failed"),
            (f"{refused:,}", "refused before they ran", f"{percent(refused / proposed)} of all"),
            (f"{found.core_hours:.1f}", "core-hours", f"{four_digits(flops / 1e15)} PFLOP"),
        ],
    )


def _about(material: DesignMaterial) -> str:
    """Say what chose, and what the search began with."""
    settings = material.found.settings
    words = f"chosen by {chosen_words(material)} · seed {settings.seed}"
    if settings.earlier is None:
        return words
    return f"{words} · begun with the best of an earlier search, {data_name(settings.earlier)}"


def _lead(material: DesignMaterial) -> str:
    """Tell the result in a sentence or two."""
    if material.best is None:
        return "Nothing that was tried has finished without a collapse."
    best = material.best.candidate
    words = distance_words(best, nearest_known(best, material.known))
    words = f"The best of {len(material.candidates):,} candidates. {words}"
    if not material.compared:
        words += " It was chosen with one seed, and is not confirmed."
    return words
