"""Part (5), L: s^+, s^- -> loss."""

from counterpoint.parts.losses.nce import NCE
from counterpoint.parts.losses.penalised import Penalised
from counterpoint.parts.losses.regression import Regression
from counterpoint.parts.losses.triplet import Triplet

__all__ = ["NCE", "Penalised", "Regression", "Triplet"]
