"""Label-free health of a representation, during training and after."""

from counterpoint.evaluation.health.geometry import alignment, deviation, uniformity
from counterpoint.evaluation.health.lidar import lidar
from counterpoint.evaluation.health.measuring import measure
from counterpoint.evaluation.health.probes import probed, ridge
from counterpoint.evaluation.health.scores import chance, histogram, surprise, table, top1
from counterpoint.evaluation.health.signs import Signs
from counterpoint.evaluation.health.spectrum import alpha_req, rankme
from counterpoint.evaluation.health.verdict import Verdict, verdict

__all__ = [
    "Signs",
    "Verdict",
    "alignment",
    "alpha_req",
    "chance",
    "deviation",
    "histogram",
    "lidar",
    "measure",
    "probed",
    "rankme",
    "ridge",
    "surprise",
    "table",
    "top1",
    "uniformity",
    "verdict",
]
