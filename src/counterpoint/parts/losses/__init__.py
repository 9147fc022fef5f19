"""Part (5), L: s^+, s^- -> loss. Losses of the scores."""

from counterpoint.parts.losses.nce import NCE as NCE
from counterpoint.parts.losses.penalised import Penalised as Penalised
from counterpoint.parts.losses.regression import Regression as Regression
from counterpoint.parts.losses.triplet import Triplet as Triplet
