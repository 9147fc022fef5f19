"""The options that Python and the command share: their defaults and their flags."""

SAVE_SECONDS = 240.0  # sqrt(2 d M) for a save of d = 1 s and a failure every 7.5 h
MAX_BAD = 0.1  # of the files; chosen by us, not from a source, as is the next
PATIENCE = 120.0  # seconds
KEEP = 2  # checkpoints
KEEP_BEST = ("loss", "knn", "linear", "rankme", "top1")
"""Figures by which the best checkpoint can be kept."""

FLAGS = {
    "epochs": "epochs",
    "batch": "batch_size",
    "accumulate": "accumulate",
    "optimiser": "optimiser",
    "lr": "lr",
    "weight_decay": "weight_decay",
    "seed": "seed",
    "precision": "precision",
    "compile": "compile",
    "lanes": "lanes",
    "block_shards": "block_shards",
    "strategy": "strategy",
    "checkpoint_activations": "checkpoint_activations",
    "slice_megabytes": "slice_megabytes",
}
"""Settings of training that the command takes, each with the name of its option."""


def flag(setting: str) -> str:
    """Return the flag of a setting as it is typed.

    >>> flag("batch")
    '--batch-size'
    """
    return "--" + FLAGS[setting].replace("_", "-")
