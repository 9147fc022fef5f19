"""Label-free health of a representation, during training and after."""

from counterpoint.evaluation.health.lidar import lidar
from counterpoint.evaluation.health.look import take_look
from counterpoint.evaluation.health.online_probes import probed, ridge
from counterpoint.evaluation.health.signs import Signs
from counterpoint.evaluation.health.spectrum import alpha_req, rankme
from counterpoint.evaluation.health.sphere import alignment, deviation, uniformity
from counterpoint.evaluation.health.task_scores import (
    guessing_top1,
    histogram,
    surprise,
    table,
    top1,
)
from counterpoint.evaluation.health.verdict import Verdict, verdict

__all__ = [
    "Signs",
    "Verdict",
    "alignment",
    "alpha_req",
    "deviation",
    "guessing_top1",
    "histogram",
    "lidar",
    "probed",
    "rankme",
    "ridge",
    "surprise",
    "table",
    "take_look",
    "top1",
    "uniformity",
    "verdict",
]
