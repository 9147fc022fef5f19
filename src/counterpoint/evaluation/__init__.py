"""Is it any good? A frozen encoder, embedded once, then probed."""

from counterpoint.evaluation.finetune import finetune
from counterpoint.evaluation.knn import knn
from counterpoint.evaluation.linear import linear
from counterpoint.evaluation.mlp import mlp
from counterpoint.evaluation.protocol import PROBES, Embeddings, embed, evaluate
from counterpoint.evaluation.representation import Representation
from counterpoint.evaluation.result import ProbeResult, Result

__all__ = [
    "PROBES",
    "Embeddings",
    "ProbeResult",
    "Representation",
    "Result",
    "embed",
    "evaluate",
    "finetune",
    "knn",
    "linear",
    "mlp",
]
