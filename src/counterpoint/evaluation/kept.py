"""Embeddings that were computed once and are kept in a run's folder."""

import hashlib
from pathlib import Path

import torch
from safetensors import safe_open
from torch import nn

from counterpoint.data import Splits
from counterpoint.data.tensor_file import write_tensors
from counterpoint.evaluation.protocol import Embeddings, embed
from counterpoint.evaluation.representation import Embedded, Representation

FILE = "embeddings.safetensors"
SPLITS = ("train", "validation")


def kept_embeddings(
    folder: Path, representation: Representation, splits: Splits, *, workers: int | None = None
) -> Embeddings:
    """Read the vectors of these images by these weights, or compute and keep them.

    Another image, weight, map or evaluation view gives another key, and they are computed anew.
    The weights are those in memory, which may have been trained since they were written.
    """
    key = _key(representation, splits)
    file = folder / FILE
    if file.is_file():
        with safe_open(file, framework="pt") as stored:
            if (stored.metadata() or {}).get("key") == key:
                parts = ((stored.get_tensor(n), stored.get_tensor(f"{n} index")) for n in SPLITS)
                return Embeddings(*(Embedded(*part) for part in parts))
    found = embed(representation, splits, workers=workers)
    tensors = {name: getattr(found, name).vectors for name in SPLITS}
    tensors |= {f"{name} index": getattr(found, name).index for name in SPLITS}
    write_tensors(file, tensors, metadata={"key": key})
    return found


def _key(representation: Representation, splits: Splits) -> str:
    images = " ".join(source.fingerprint() for source in (splits.train, splits.validation))
    known = str([sorted(source.bad) for source in (splits.train, splits.validation)])
    bad = hashlib.blake2b(known.encode(), digest_size=8).hexdigest()
    shown = repr(representation.model.views.evaluation)  # the same weights may see another size
    view = hashlib.blake2b(shown.encode(), digest_size=8).hexdigest()
    return f"{weights_key(representation.encoder)} {images} {bad} {representation.map} {view}"


def weights_key(encoder: nn.Module) -> str:
    """Name the weights that a module has now.

    >>> one, other = nn.Linear(2, 2), nn.Linear(2, 2)
    >>> weights_key(one) == weights_key(other)
    False
    >>> _ = other.load_state_dict(one.state_dict())
    >>> weights_key(one) == weights_key(other)
    True
    """
    digest = hashlib.blake2b(digest_size=8)
    for name, tensor in encoder.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
