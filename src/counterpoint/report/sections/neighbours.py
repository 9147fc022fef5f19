"""The gallery: images, and what each run takes for most alike."""

from counterpoint.report.gallery import agreement, guessing_share, queries
from counterpoint.report.markup import Attributes, Html, el, join
from counterpoint.report.material import Material, Section, code, hint
from counterpoint.report.samples import Sample, Seen
from counterpoint.report.thumbnails import SMALL, data_uri
from counterpoint.report.words import percent

ALONE, TOGETHER = 12, 6  # images looked up for one run, and for several


def neighbours_section(material: Material) -> Section:
    """Show for some images their nearest neighbours in every run; or how to see pictures."""
    if material.sample is None:
        words = " to see nearest neighbours, the views and a map of your images."
        return Section("pictures", "Pictures", hint("Give ", code("--data FOLDER"), words))
    sample = material.sample
    count = TOGETHER if material.several else ALONE
    asked = queries(sample.labels, len(sample.pictures), count=count)
    shown = el("div", {"class": "gallery"}, *(_query(material, sample, one) for one in asked))
    return Section("neighbours", "Neighbours", join([_words(material, sample), shown]))


def _words(material: Material, sample: Sample) -> Html:
    """Say what is compared, and how often labels agree over the whole sample."""
    said = f"Nearest by cosine among {sample.words}; the first image of each row is the query. "
    if sample.labels is None:
        return el("p", {}, said)
    blind = percent(guessing_share(sample.labels))
    shares = [
        join([material.badge(place), percent(agreement(sample.labels, seen.near), digits=0)])
        for place, seen in enumerate(material.seen)
    ]
    found = join([join([share, " "]) for share in shares])
    return el(
        "p",
        {},
        f"{said}Over the whole sample the label agrees for ",
        found,
        f"of the neighbours; {blind} would agree by chance. ",
        el("span", {"class": "agree"}, "\u2713"),
        " same label, ",
        el("span", {"class": "differ"}, "\u2715"),
        " another.",
    )


def _query(material: Material, sample: Sample, number: int) -> Html:
    label = None if sample.labels is None else sample.name(int(sample.labels[number]))
    file = sample.file(number)
    alt = f"looked up: {label or file or f'image {number}'}"
    words = el("figcaption", {}, label, _file(file)) if label or file else None
    query = el("figure", {"class": "thumb query"}, _image(sample, number, alt), words)
    rows = [_row(material, sample, seen, place, number) for place, seen in enumerate(material.seen)]
    return el("div", {"class": "query-row"}, query, el("div", {"class": "answers"}, *rows))


def _row(material: Material, sample: Sample, seen: Seen, place: int, number: int) -> Html:
    pairs = zip(seen.near[number].tolist(), seen.cosines[number].tolist(), strict=True)
    found = [_neighbour(sample, number, other, cosine) for other, cosine in pairs]
    return el("div", {"class": "answer"}, material.badge(place), *found)


def _neighbour(sample: Sample, query: int, other: int, cosine: float) -> Html:
    near = f"{cosine:.2f}"
    file = sample.file(other)
    if sample.labels is None:
        words = el("figcaption", {}, near, _file(file))
        return el("figure", {"class": "thumb"}, _image(sample, other, f"cosine {near}"), words)
    label = sample.name(int(sample.labels[other]))
    same = bool(sample.labels[other] == sample.labels[query])
    sign = el("span", {"class": "sign", "aria-hidden": "true"}, "\u2713" if same else "\u2715")
    alt = f"{label}, cosine {near}, {'same' if same else 'another'} label"
    return el(
        "figure",
        {"class": f"thumb {'agree' if same else 'differ'}"},
        _image(sample, other, alt),
        sign,
        el("figcaption", {}, label, _file(file)),
    )


def _file(name: str) -> Html | None:
    """Write a file's own name; its folder too where a pointer rests on it."""
    own = name.rpartition("/")[2]
    attributes = {"class": "file", "title": f"{name} (click to copy)", "data-file": name}
    return el("small", attributes, own) if name else None


def _image(sample: Sample, number: int, alt: str) -> Html:
    picture = sample.pictures[number]
    small = max(picture.size) <= SMALL
    attributes: Attributes = {
        "src": data_uri(picture),
        "alt": alt,
        "width": picture.width,
        "height": picture.height,
        "class": "pixels" if small else None,
    }
    return el("img", attributes)


SECTIONS = (neighbours_section,)
