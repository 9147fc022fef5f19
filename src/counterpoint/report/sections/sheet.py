"""The contact sheet: what the encoder was shown in place of the images."""

from counterpoint.framework import PartError
from counterpoint.report.contact_sheet import contact_sheet
from counterpoint.report.findings import Findings
from counterpoint.report.markup import Attributes, Html, el, join
from counterpoint.report.material import Material, Section, code, hint, scrolled
from counterpoint.report.samples import Sample
from counterpoint.report.thumbnails import data_uri


def views(material: Material) -> Section | None:
    """Show images with their crops and views; runs with the same views share a sheet."""
    if material.sample is None:
        return None
    groups: dict[str, list[int]] = {}
    for place, run in enumerate(material.runs):
        groups.setdefault(dict(run.rows).get("views", ""), []).append(place)
    shown = [_group(material, material.sample, places) for places in groups.values()]
    words = el("p", {}, "What the encoder sees during training. Frames mark the crops.")
    return Section("views", "Views", join([words, *shown]))


def _group(material: Material, sample: Sample, places: list[int]) -> Html:
    run = material.runs[places[0]]
    badges = join([material.badge(place) for place in places])
    try:
        sheet = _sheet(run, sample)
    except PartError as error:
        return el("div", {}, badges, hint(str(error)))
    return el("div", {}, badges, sheet)


def _sheet(run: Findings, sample: Sample) -> Html:
    if run.method is None:
        return hint("The method has parts of your own: give ", code("--parts FILE"), ".")
    seed = int(run.training.get("seed", 0))
    drawn = contact_sheet(
        run.method.views, sample.for_views, title=f"{run.name}: views", seed=seed, epochs=2
    )
    attributes: Attributes = {
        "src": data_uri(drawn),
        "alt": f"{len(sample.for_views)} images and their views: {run.method.views}",
        "width": drawn.width,
        "height": drawn.height,
        "class": "sheet",
    }
    return scrolled("Contact sheet of views", el("img", attributes))


SECTIONS = (views,)
