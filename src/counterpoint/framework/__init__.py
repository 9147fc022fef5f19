"""The framework: five contracts, one record per arrow, and the method as a value."""

from counterpoint.framework.batch_samples import Samples
from counterpoint.framework.contracts import Encoder, Extraction, Loss, Similarity, Views
from counterpoint.framework.errors import PartError
from counterpoint.framework.method import Method
from counterpoint.framework.model import Model, contrast
from counterpoint.framework.momentum import Momentum, twins
from counterpoint.framework.records import (
    Comparison,
    Draw,
    Encoded,
    Kept,
    Remembered,
    Scores,
    Terms,
)
from counterpoint.framework.world import ALONE, Alone, Everyone, Gathered, World

__all__ = [
    "ALONE",
    "Alone",
    "Comparison",
    "Draw",
    "Encoded",
    "Encoder",
    "Everyone",
    "Extraction",
    "Gathered",
    "Kept",
    "Loss",
    "Method",
    "Model",
    "Momentum",
    "PartError",
    "Remembered",
    "Samples",
    "Scores",
    "Similarity",
    "Terms",
    "Views",
    "World",
    "contrast",
    "twins",
]
