"""Is it any good? A frozen encoder, embedded once, then probed."""

from counterpoint.evaluation.knn import knn
from counterpoint.evaluation.mlp import mlp
from counterpoint.evaluation.protocol import Result, evaluate
from counterpoint.evaluation.representation import Representation

__all__ = ["Representation", "Result", "evaluate", "knn", "mlp"]
