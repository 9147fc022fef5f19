"""What a figure of an outcome is: its words, its numbers, and which of two is the better."""

from dataclasses import dataclass
from math import inf, isfinite

from counterpoint.evaluation import PROBES
from counterpoint.evaluation.criteria import CRITERIA, goodness

VALIDATION = " validation"
COUNTED = ("rankme", "lidar")  # ranks, from 1 to some hundreds; the other criteria are near 1
OTHERS = {
    "lr": ("Learning rate", ".3g"),
    "collapsed": ("Share of seeds whose encoder collapsed", ".2f"),
}
"""Words and format of figures that have no best: they say what happened, not how good it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureKind:
    """How one figure is written and compared."""

    figure: str
    words: str
    digits: str
    """Format of its numbers, as in an f-string."""
    percent: bool = False
    ranked: bool = True
    """Whether one value is better than another."""

    def shown(self, value: float) -> float:
        """Return a value in the unit that it is shown in."""
        return 100 * value if self.percent else value

    def number(self, value: float) -> str:
        """Write a value without its unit."""
        return f"{self.shown(value):{self.digits}}"

    def merit(self, value: float) -> float:
        """Return a value so that more is better; what is not a number is below all others."""
        return goodness(self.figure, value) if isfinite(value) else -inf


def figure_kind(figure: str) -> FigureKind:
    """Return what is known of a figure by its name.

    >>> figure_kind("linear").words, figure_kind("linear").number(0.6)
    ('Test accuracy of the linear probe', '60.0')
    >>> figure_kind("rankme").words, figure_kind("rankme").number(42.1)
    ('Criterion rankme (no labels used)', '42.1')
    """
    probe = figure.removesuffix(VALIDATION)
    if probe in PROBES:
        which = "Test" if probe == figure else "Validation"
        words = f"{which} accuracy of the {probe} probe"
        return FigureKind(figure=figure, words=words, digits=".1f", percent=True)
    if figure in CRITERIA:
        digits = ".1f" if figure in COUNTED else ".3f"
        nearest = "; nearest to 1 is best" * (figure == "alpha")
        words = f"Criterion {figure} (no labels used{nearest})"
        return FigureKind(figure=figure, words=words, digits=digits)
    words, digits = OTHERS.get(figure, (f"Figure {figure}", ".4g"))
    return FigureKind(figure=figure, words=words, digits=digits, ranked=False)
