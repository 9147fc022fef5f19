"""What a search leaves for people: the page report.html and the file method.py."""

from pathlib import Path

from counterpoint.design.again import design_again
from counterpoint.design.confirm_run import read_confirmation
from counterpoint.design.confirmation_plan import read_plan
from counterpoint.design.design_settings import ImageFacts, epoch_flops, image_facts
from counterpoint.design.evolution import ranked
from counterpoint.design.method_file import method_source
from counterpoint.design.report.design_material import material_of
from counterpoint.design.report.design_page import design_page
from counterpoint.design.search_files import read_design
from counterpoint.design.search_start import pool_of
from counterpoint.design.searched import Searched
from counterpoint.whole_file import write_whole

REPORT, METHOD = "report.html", "method.py"


def finish_design(out: Path, found: Searched | None = None) -> Path:
    """Write the report of a search, and its best method as a file; return the report.

    Both may be written at any time: while a search continues, they show what it has so far.
    """
    found = read_design(out) if found is None else found
    best = ranked(found.judged())
    if best:
        candidate = best[0].candidate
        write_whole(out / METHOD, method_source(candidate, name=f"found-{candidate.fingerprint}"))
    plan = read_plan(out)
    material = material_of(
        found,
        folder=out.resolve().name,
        again=design_again(found, epochs=full_epochs(found), out=out.resolve().name),
        known=pool_of(found.settings, _ground(found)),
        compared=read_confirmation(out),
        tuned=plan is not None and plan.tuned,
    )
    write_whole(out / REPORT, design_page(material))
    return out / REPORT


def full_epochs(found: Searched) -> float:
    """Return how many epochs of the reference method a full trial costs."""
    settings = found.settings
    return settings.full / epoch_flops(_ground(found), settings.encoder, settings.batch)


def _ground(found: Searched) -> ImageFacts:
    settings = found.settings
    return image_facts(settings.data, size=settings.size, limit=settings.limit)
