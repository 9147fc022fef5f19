"""Two distributions over one axis: one filled, one hatched."""

from counterpoint.report.charts.frame import Size, axes, svg_chart
from counterpoint.report.charts.scale import Scale
from counterpoint.report.health_record import Histogram
from counterpoint.report.markup import Html, el

SIZE = Size(170, 122, left=30, right=8, bottom=34)


def histograms(
    positive: Histogram, negative: Histogram, *, title: str, edges: tuple[float, float]
) -> Html:
    """Draw the scores of positives and of negatives as shares of each, peak to peak."""
    x = Scale(edges[0], edges[1], SIZE.left, SIZE.width - SIZE.right)
    both = [_density(positive), _density(negative)]
    y = Scale(0.0, 1.08 * max(map(max, both)), SIZE.height - SIZE.bottom, SIZE.top)
    drawn = [
        el("path", {"d": _steps(h.edges, d, x, y), "class": kind})
        for h, d, kind in (
            (negative, both[1], "area negative"),
            (positive, both[0], "area positive"),
        )
    ]
    means = f"mean {_mean(positive):.2f} for positives, {_mean(negative):.2f} for negatives"
    return svg_chart(
        SIZE, title, means, axes(SIZE, x, y, x_words="similarity", x_ticks=x.ticks(3)), *drawn
    )


def _density(histogram: Histogram) -> list[float]:
    total = sum(histogram.counts)
    widths = zip(histogram.edges, histogram.edges[1:], strict=False)
    return [
        c / total / max(high - low, 1e-12)
        for c, (low, high) in zip(histogram.counts, widths, strict=True)
    ]


def _mean(histogram: Histogram) -> float:
    widths = zip(histogram.edges, histogram.edges[1:], strict=False)
    middles = [(low + high) / 2 for low, high in widths]
    pairs = zip(middles, histogram.counts, strict=True)
    return sum(m * c for m, c in pairs) / sum(histogram.counts)


def _steps(edges: tuple[float, ...], levels: list[float], x: Scale, y: Scale) -> str:
    path = f"M{x(edges[0]):g} {y(0):g}"
    for level, right in zip(levels, edges[1:], strict=True):
        path += f"V{y(level):g}H{x(right):g}"
    return path + f"V{y(0):g}z"
