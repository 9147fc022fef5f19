"""Embeddings that were computed once and are kept in a run's folder."""

import hashlib
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file

from counterpoint.data import Splits, fingerprint
from counterpoint.evaluation.protocol import Embeddings, embed
from counterpoint.evaluation.representation import Representation

FILE = "embeddings.safetensors"


def kept_embeddings(folder: Path, representation: Representation, splits: Splits) -> Embeddings:
    """Read the vectors of these images by these weights, or compute and keep them.

    Another image, another weight or another map gives another key, and they are computed anew.
    """
    key = _key(folder, representation, splits)
    file = folder / FILE
    if file.is_file():
        with safe_open(file, framework="pt") as stored:
            if (stored.metadata() or {}).get("key") == key:
                return Embeddings(stored.get_tensor("train"), stored.get_tensor("validation"))
    found = embed(representation, splits)
    tensors = {"train": found.train, "validation": found.validation}
    save_file({name: t.contiguous() for name, t in tensors.items()}, file, metadata={"key": key})
    return found


def _key(folder: Path, representation: Representation, splits: Splits) -> str:
    with (folder / "model.safetensors").open("rb") as weights:
        model = hashlib.file_digest(weights, "blake2b").hexdigest()[:16]
    images = f"{fingerprint(splits.train)} {fingerprint(splits.validation)}"
    return f"{model} {images} {representation.map}"
