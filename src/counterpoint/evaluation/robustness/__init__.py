"""What is left when images get worse: corruptions of five severities, and shifts of the window."""

from counterpoint.evaluation.robustness.corruptions import (
    CORRUPTIONS,
    SEVERITIES,
    Corruption,
    corrupt,
)
from counterpoint.evaluation.robustness.measure import Robustness, robustness
from counterpoint.evaluation.robustness.shifts import SHIFTS, Shift, shifted

__all__ = [
    "CORRUPTIONS",
    "SEVERITIES",
    "SHIFTS",
    "Corruption",
    "Robustness",
    "Shift",
    "corrupt",
    "robustness",
    "shifted",
]
