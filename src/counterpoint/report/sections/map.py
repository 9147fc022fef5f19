"""The map: images as points, near where their vectors are near."""

from jaxtyping import Int64
from torch import Tensor

from counterpoint.report.charts import scatter
from counterpoint.report.charts.scatter import SIDE, fit_to_square
from counterpoint.report.charts.shapes import COLOURS, mark, shape_of
from counterpoint.report.markup import Attributes, Html, data_block, el, join
from counterpoint.report.material import Material, Section
from counterpoint.report.samples import Sample, Seen
from counterpoint.report.thumbnails import SMALL, Sheet, sheet

PICTURE = 34  # units of the map's 600 that a picture takes; more would hide the marks


def map_section(material: Material) -> Section | None:
    """Draw a map for every run; pointing at an image shows it in all of them."""
    if material.sample is None:
        return None
    sample, thumbs = material.sample, sheet(material.sample.pictures)
    drawn = [_one(material, sample, thumbs, place) for place in range(len(material.seen))]
    words = el(
        "p",
        {},
        f"Every mark is one of {sample.words}. Point at one, tap it, or move with the arrow keys: "
        "lines lead to its six nearest neighbours by cosine in the full space.",
    )
    several = "maps several" if material.several else "maps"
    maps = el("div", {"class": several}, *drawn, _card())
    block = data_block("map-data", _data(material, sample))
    return Section("map", "Map", join([words, maps, block, _style(thumbs)]))


def point_kinds(sample: Sample, seen: Seen) -> tuple[Int64[Tensor, " sample"], list[str]]:
    """Return the kind of every image: its label, or its group if labels are none or too many."""
    if seen.clusters is not None:
        return seen.clusters, [f"group {n + 1}" for n in range(_count(seen.clusters))]
    assert sample.labels is not None
    return sample.labels, [sample.name(n) for n in range(_count(sample.labels))]


def apart(places: list[list[float]], size: float) -> list[int]:
    """Choose points whose pictures do not cover each other, in the order given.

    >>> apart([[0, 0], [10, 10], [40, 0]], 34)
    [0, 2]
    """
    chosen: list[int] = []
    for number, (x, y) in enumerate(places):
        near = (places[other] for other in chosen)
        if all(abs(x - a) >= size or abs(y - b) >= size for a, b in near):
            chosen.append(number)
    return chosen


def _one(material: Material, sample: Sample, thumbs: Sheet, place: int) -> Html:
    seen, run = material.seen[place], material.runs[place]
    kinds, names = point_kinds(sample, seen)
    title = f"Map of {len(kinds):,} images by {run.name} ({seen.projection.words})"
    at = fit_to_square(seen.projection.points)
    drawn = scatter(at, kinds, names, title=title, number=place)
    shown = [_picture(n, at[n], int(kinds[n]), thumbs) for n in apart(at, PICTURE)]
    pictures = el("div", {"class": "pictures", "aria-hidden": "true"}, *shown)
    caption = el(
        "figcaption",
        {},
        el("b", {}, material.badge(place), run.folder if material.several else run.name),
        el("p", {}, f"{seen.projection.words}. Two axes cannot show all: trust the lines."),
    )
    ground = el("div", {"class": "ground"}, drawn, pictures)
    return el("figure", {"class": "plot"}, caption, ground, _legend(kinds, names, place))


def _picture(number: int, at: list[float], kind: int, thumbs: Sheet) -> Html:
    """Lay one thumbnail on the map, by shares of its side."""
    column, row = number % thumbs.columns, number // thumbs.columns
    across = 100 * column / max(1, thumbs.columns - 1)
    down = 100 * row / max(1, thumbs.rows - 1)
    left, top = (100 * (value - PICTURE / 2) / SIDE for value in at)
    style = f"left:{left:.2f}%;top:{top:.2f}%;background-position:{across:.3f}% {down:.3f}%"
    return el("i", {"class": f"tn c{kind % COLOURS}", "data-kind": kind, "style": style})


def _legend(kinds: Tensor, names: list[str], place: int) -> Html:
    counts = kinds.bincount(minlength=len(names)).tolist()
    switch: Attributes = {"type": "button", "data-pictures": place, "aria-pressed": "true"}
    buttons = [
        el(
            "button",
            {"type": "button", "data-show": kind, "data-of": place, "aria-pressed": "false"},
            _key(kind),
            f"{name} ",
            el("small", {}, count),
        )
        for kind, (name, count) in enumerate(zip(names, counts, strict=True))
        if count
    ]
    attributes = {"class": "legend", "role": "group", "aria-label": "What the map shows"}
    return el("div", attributes, el("button", switch, "pictures"), *buttons)


def _key(kind: int) -> Html:
    path = el("path", {"d": mark(7, 7, 4, shape_of(kind)), "class": f"dots c{kind % COLOURS}"})
    attributes: Attributes = {"viewBox": "0 0 14 14", "width": 14, "height": 14}
    return el("svg", {**attributes, "aria-hidden": "true"}, path)


def _card() -> Html:
    """Prepare the place where the image under the pointer is shown and said."""
    empty = el("p", {}, "Point at a mark: its image and its six nearest neighbours appear here.")
    return el("div", {"id": "map-card", "class": "card", "aria-live": "polite"}, empty)


def _data(material: Material, sample: Sample) -> dict[str, object]:
    """Return places, names and neighbours for the script; the pictures are on the sheet."""
    labels = sample.labels
    runs = [
        {
            "letter": material.letter(place),
            "at": fit_to_square(seen.projection.points),
            "near": seen.near.tolist(),
        }
        for place, seen in enumerate(material.seen)
    ]
    return {
        "names": [] if labels is None else [sample.name(n) for n in range(_count(labels))],
        "labels": [] if labels is None else labels.tolist(),
        "files": [name for n in range(len(sample.pictures)) if (name := sample.file(n))],
        "runs": runs,
    }


def _count(labels: Tensor) -> int:
    return int(labels.max()) + 1


def _style(thumbs: Sheet) -> Html:
    """Hold the sheet of thumbnails once, as a background that all of them share."""
    size = f"background-size:{thumbs.columns * 100}% {thumbs.rows * 100}%"
    way = f"image-rendering:{'pixelated' if thumbs.side <= SMALL else 'auto'}"
    grid = f"--columns:{thumbs.columns};--rows:{thumbs.rows}"
    shared = f"background-image:url({thumbs.uri});{size};{way}"
    return el("style", {}, f".tn{{{shared}}}:root{{{grid}}}")


SECTIONS = (map_section,)
