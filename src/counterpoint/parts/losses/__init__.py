"""Part (5), L: s^+, s^- -> loss. Losses of the scores."""

from counterpoint.parts.losses.alignment import AlignmentUniformity as AlignmentUniformity
from counterpoint.parts.losses.covariance import VICReg as VICReg
from counterpoint.parts.losses.cross_correlation import BarlowTwins as BarlowTwins
from counterpoint.parts.losses.hard_negatives import HardNegatives as HardNegatives
from counterpoint.parts.losses.nce import NCE as NCE
from counterpoint.parts.losses.nearest_entropy import NearestEntropy as NearestEntropy
from counterpoint.parts.losses.penalised import Penalised as Penalised
from counterpoint.parts.losses.regression import Regression as Regression
from counterpoint.parts.losses.relational import (
    RelationalCrossEntropy as RelationalCrossEntropy,
)
from counterpoint.parts.losses.sigmoid import Sigmoid as Sigmoid
from counterpoint.parts.losses.squared_scores import Spectral as Spectral
from counterpoint.parts.losses.triplet import Triplet as Triplet
from counterpoint.parts.losses.weighted_positives import WeightedPositives as WeightedPositives
