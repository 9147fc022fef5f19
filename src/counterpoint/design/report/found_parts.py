"""The method that was found: its five parts, and what it is nearest to."""

from counterpoint.design.candidate import Candidate
from counterpoint.design.report.design_material import DesignMaterial, nearest_known
from counterpoint.framework.method import FIVE
from counterpoint.methods.kinship import changed_parts, part_distance, short_parts
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Section, code
from counterpoint.report.sections.parts import marked, part_card
from counterpoint.report.words import joined


def found_section(material: DesignMaterial) -> Section | None:
    """Show the best candidate as five parts, beside the nearest known method."""
    if material.best is None:
        return None
    best = material.best.candidate
    near = nearest_known(best, material.known)
    differs = near is not None and near.fingerprint != best.fingerprint
    rows, before = best.method.rows(), dict(near.method.rows()) if near else {}
    cards = [
        part_card(
            number,
            name,
            marked(before[name], settings) if near else settings,
            _note(name, best, near),
        )
        for number, (name, settings) in enumerate(rows, start=1)
    ]
    body = [
        el("p", {}, f"What {near.change} has otherwise is marked.") if near and differs else None,
        el("ol", {"class": "flow"}, *cards),
        _training(best, near),
        el("p", {"class": "hint"}, "As a file that trains: ", code("method.py"), "."),
    ]
    return Section("found", "The method", join(body))


def distance_words(best: Candidate, near: Candidate | None) -> str:
    """Say how far a candidate is from the nearest known method."""
    if near is None:
        return "It was compared with no known method."
    if best.fingerprint == near.fingerprint:
        return f"It is {near.change} as it is shipped: nothing that was tried is ahead of it."
    many = part_distance(best.method, near.method)
    if many == 0:
        differ = _settings(best, near)
        return (
            f"All five parts are of the same kind as in {near.change}; it differs in "
            f"settings{f' of {joined(differ)}' if differ else ''} only."
        )
    names = changed_parts(best.method, near.method)
    of = "one of the five parts is" if many == 1 else f"{many} of the five parts are"
    return f"The nearest known method is {near.change}: {of} of another kind, {joined(names)}."


def _settings(best: Candidate, near: Candidate) -> list[str]:
    """Name the parts, or the training, whose settings differ."""
    pairs = ((name, getattr(best.method, name), getattr(near.method, name)) for name in FIVE)
    differ = [name for name, one, other in pairs if one != other]
    return [*differ, *(["training"] if best.training != near.training else [])]


def _note(part: str, best: Candidate, near: Candidate | None) -> str | None:
    """Say what a part of another kind stands in the place of."""
    if near is None or part not in changed_parts(best.method, near.method):
        return None
    kind = dict(zip(FIVE, short_parts(near.method), strict=True))[part]
    return f"Another kind: {near.change} has {kind}."


def _training(best: Candidate, near: Candidate | None) -> Html:
    """List the training settings; what the nearest method does not have is marked."""
    before = dict(near.training) if near else {}
    items = []
    for name, value in best.training:
        shown: Html | str = str(value)
        if near is not None and before.get(name) != value:
            shown = el("mark", {}, str(value))
        items.append(el("div", {}, el("dt", {}, name.replace("_", " ")), el("dd", {}, shown)))
    summary = el("summary", {}, "Training settings")
    return el("details", {}, summary, el("dl", {"class": "facts"}, *items))
