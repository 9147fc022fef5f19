"""What a run started from: measured as the run is, it says what training gave."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from counterpoint.data import Splits, as_splits
from counterpoint.data.tensor_file import write_tensors
from counterpoint.evaluation import Representation, evaluate
from counterpoint.evaluation.kept import weights_key
from counterpoint.evaluation.placing import on_device
from counterpoint.evaluation.protocol import FROZEN
from counterpoint.framework import Model
from counterpoint.framework.optional import backbone_of, trained
from counterpoint.run import Run
from counterpoint.run_files import BEFORE, RUN, START
from counterpoint.training.run_store.run_copy import bring_back
from counterpoint.version import versions
from counterpoint.whole_file import write_json


def keep_start(folder: Path, model: Model, *, drawn: bool) -> str:
    """Keep the weights that training starts from, and return their key.

    Those that were drawn are drawn again by their seed: only others are written.
    """
    network = _network(model)
    if drawn:
        (folder / START).unlink(missing_ok=True)
    else:
        write_tensors(folder / START, network.state_dict())
    return weights_key(network)


def starting_model(run: Run) -> Model:
    """Make the model of a run as it was before its first step, or say why that cannot be."""
    key = None if run.folder is None else _record(run.folder / RUN).get("start")
    if run.folder is None or key is None:
        raise ValueError(
            f"run: {run.folder or 'this encoder'} was not trained, or by an earlier version; "
            "what it started from is not known"
        )
    states = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.training.seed)
        random.seed(run.training.seed)
        np.random.seed(run.training.seed)
        model = run.method.build(image=run.image)
    random.setstate(states[0])
    np.random.set_state(states[1])
    network = _network(model)
    if run.training.precision == "64-true":
        model.double()
    if (run.folder / START).is_file():
        network.load_state_dict(load_file(run.folder / START))
    if weights_key(network) != key:
        raise ValueError(
            f"run: the seed of {run.folder} draws other weights here than it did; "
            "what it started from cannot be made again"
        )
    return model


def measure_start(
    run: Run,
    data: str | Path | Splits,
    *,
    probes: Sequence[str] = ("knn", "linear", "mlp"),
    fractions: Sequence[float] = (1.0,),
    seeds: int = 1,
    seed: int = 0,
    map: int | None = None,  # noqa: A002 (the paper's word)
    device: str | torch.device | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """Measure what a run started from by probes of a frozen encoder, and keep it in the folder.

    The record is that of `Run.evaluate`. The same question is answered from the folder.
    """
    model = starting_model(run)
    assert run.folder is not None
    splits = as_splits(data).for_probes()
    asked = [name for name in probes if name in FROZEN]
    images = [s.fingerprint() for s in (splits.train, splits.validation, splits.test)]
    how = [asked, [*fractions], seeds, seed, map, images, weights_key(_network(model))]
    question = json.dumps(how)
    known = _record(run.folder / BEFORE)
    if known.get("question") == question:
        return known
    with on_device(model, device):
        found = evaluate(
            Representation(model, map),
            splits,
            probes=asked,
            fractions=fractions,
            seeds=seeds,
            seed=seed,
            workers=workers,
        )
    record = {
        "question": question,
        "data": {"name": splits.train.name, "fingerprint": splits.train.fingerprint()},
        "versions": versions(),
        **found.to_dict(),
    }
    write_json(run.folder / BEFORE, record)
    bring_back(run.folder, BEFORE)
    return record


def accuracies(record: Mapping[str, Any]) -> dict[tuple[str, float], float]:
    """Return the test accuracy of each probe and share of the labels in a record."""
    return {(probe["name"], probe["fraction"]): probe["test"] for probe in record["probes"]}


def _network(model: Model) -> nn.Module:
    return backbone_of(trained(model.encoder))


def _record(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text()) if file.is_file() else {}
    return found if isinstance(found, dict) else {}
