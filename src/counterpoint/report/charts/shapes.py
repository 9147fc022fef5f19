"""Marks that differ in shape as well as in colour."""

SHAPES = ("circle", "square", "triangle", "diamond", "cross")
COLOURS = 10
DASHES = (None, "7 3", "2 3", "9 3 2 3", "4 2")


def shape_of(place: int) -> int:
    """Return the shape of a series; with the colours, fifty pairs before one comes back.

    >>> len({(place % COLOURS, shape_of(place)) for place in range(50)})
    50
    """
    return (place + place // COLOURS) % len(SHAPES)


def mark(x: float, y: float, radius: float, shape: int) -> str:
    """Draw one mark as a piece of an SVG path.

    >>> mark(10, 10, 2, 1)
    'M8 8h4v4h-4z'
    """
    r = round(radius, 1)
    if SHAPES[shape] == "circle":
        return f"M{x - r:g} {y:g}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0z"
    if SHAPES[shape] == "square":
        return f"M{x - r:g} {y - r:g}h{2 * r:g}v{2 * r:g}h{-2 * r:g}z"
    if SHAPES[shape] == "triangle":
        return f"M{x:g} {y - 1.2 * r:.4g}l{1.2 * r:.3g} {2.2 * r:.3g}h{-2.4 * r:.3g}z"
    if SHAPES[shape] == "diamond":
        t = round(1.4 * r, 1)
        return f"M{x:g} {y - t:g}l{t:g} {t:g}l{-t:g} {t:g}l{-t:g} {-t:g}z"
    a, b = round(0.45 * r, 1), round(1.3 * r, 1)
    arm = round(b - a, 1)
    return (
        f"M{x - a:g} {y - b:g}h{2 * a:g}v{arm:g}h{arm:g}v{2 * a:g}h{-arm:g}v{arm:g}"
        f"h{-2 * a:g}v{-arm:g}h{-arm:g}v{-2 * a:g}h{arm:g}z"
    )
