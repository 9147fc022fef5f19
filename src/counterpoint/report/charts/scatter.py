"""Points of a plane, one path for each kind, and their names where they lie."""

from collections.abc import Sequence

from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.report.charts.shapes import COLOURS, mark, shape_of
from counterpoint.report.markup import Attributes, Html, el

SIDE, MARGIN, RADIUS = 600, 16, 3.2
LETTER, LINE = 9, 17  # a letter and a line of a name, about


def fit_to_square(points: Float[Tensor, "sample 2"]) -> list[list[float]]:
    """Fit points into the square, up being up; one unit is the same both ways.

    >>> import torch
    >>> fit_to_square(torch.tensor([[0.0, 0.0], [1.0, 2.0]]))
    [[158.0, 584.0], [442.0, 16.0]]
    """
    low, high = points.min(dim=0).values, points.max(dim=0).values
    unit = (SIDE - 2 * MARGIN) / max(float((high - low).max()), 1e-12)
    centred = (points - (low + high) / 2) * unit
    return [[round(SIDE / 2 + x, 1), round(SIDE / 2 - y, 1)] for x, y in centred.tolist()]


def scatter(
    places: Sequence[Sequence[float]],
    kinds: Int64[Tensor, " sample"],
    names: Sequence[str],
    *,
    title: str,
    number: int,
) -> Html:
    """Draw every point by the shape and colour of its kind; `number` tells the script which."""
    groups: list[list[Sequence[float]]] = [[] for _ in names]
    for place, kind in zip(places, kinds.tolist(), strict=True):
        groups[kind].append(place)
    paths = [_group(group, kind) for kind, group in enumerate(groups) if group]
    labels = _labels({names[kind]: group for kind, group in enumerate(groups) if group})
    attributes: Attributes = {
        "viewBox": f"0 0 {SIDE} {SIDE}",
        "role": "img",
        "class": "map",
        "aria-label": title,
        "tabindex": 0,
        "data-map": number,
    }
    inside = (el("g", {"class": "links"}), el("g", {"class": "halo"}))
    return el("svg", attributes, el("title", {}, title), *paths, *inside, *labels)


def _group(places: list[Sequence[float]], kind: int) -> Html:
    path = "".join(mark(x, y, RADIUS, shape_of(kind)) for x, y in places)
    return el("path", {"d": path, "class": f"dots c{kind % COLOURS}", "data-kind": kind})


def _labels(groups: dict[str, list[Sequence[float]]]) -> list[Html]:
    """Name kinds at the medians of their points, moved down where names would meet."""
    taken: list[tuple[float, float, str]] = []
    for name, places in groups.items():
        x, y = (sorted(axis)[len(axis) // 2] for axis in zip(*places, strict=True))
        while any(_meet((x, y, name), other) for other in taken):
            y += 4
        taken.append((x, y, name))
    attributes = {"class": "place-name", "text-anchor": "middle"}
    return [el("text", {"x": x, "y": round(y, 1), **attributes}, name) for x, y, name in taken]


def _meet(one: tuple[float, float, str], other: tuple[float, float, str]) -> bool:
    wide = LETTER * (len(one[2]) + len(other[2])) / 2 + 4
    return abs(one[0] - other[0]) < wide and abs(one[1] - other[1]) < LINE
