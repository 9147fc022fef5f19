"""What curation costs at scale: a million vectors in cells, and copies of some among them.

`scripts/bench use curate_cost [COUNT] [WIDTH]` adds `cost` to docs/results/use-curate.json.
"""

import json
import resource
import time

import torch

from bench.use.curate import RESULT
from counterpoint.curation.calibration import half_of_copies, law_of, measured_copies
from counterpoint.curation.locality import local_scales, scaled_distances
from counterpoint.curation.near_pairs import near_pairs
from counterpoint.curation.neighbourhoods import rooms
from counterpoint.curation.threshold import fitted_threshold, precision_curve

COPIES = 10_000


def cloud(count: int, width: int) -> torch.Tensor:
    """Vectors on a sheet of 16 dimensions around 2,000 centres; the last are copies."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(2_000, 16, generator=generator)
    mix = torch.randn(16, width, generator=generator) / 4
    made = torch.empty(count, width, dtype=torch.float16)
    for rows in torch.arange(count - COPIES).split(50_000):
        low = centres[torch.randint(2_000, (len(rows),), generator=generator)]
        low = low + 0.4 * torch.randn(len(rows), 16, generator=generator)
        made[rows] = torch.tanh(low @ mix).half()
    made[-COPIES:] = copied(made[:COPIES], generator)
    return made


def copied(vectors: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    noise = torch.randn(vectors.shape, generator=generator)
    size = 0.01 + 0.1 * torch.rand(len(vectors), 1, generator=generator)
    return (vectors.float() + size * noise).half()


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else 1_000_000
    width = int(arguments[1]) if len(arguments) > 1 else 256
    vectors = cloud(count, width)
    seconds, started = {}, time.monotonic()

    def said(what: str) -> None:
        nonlocal started
        seconds[what] = round(time.monotonic() - started, 1)
        print(what, seconds[what], flush=True)
        started = time.monotonic()

    room = rooms(vectors)
    said("cells")
    near = room.nearest(vectors, torch.arange(count))
    said("comparing")
    scales = local_scales(near.cosine)
    lists = scaled_distances(near.cosine, near.index, scales, scales)
    originals = torch.arange(COPIES, COPIES + 1_000)
    more = copied(vectors[originals], torch.Generator().manual_seed(1))
    positives = measured_copies(room, scales, originals, torch.arange(1_000), more)
    law = law_of(lists, aside=half_of_copies(positives))
    found = near_pairs(near.index, lists)
    stated = fitted_threshold(precision_curve(found.distance, law, images=count), law)
    stated = stated.widened(law_of(lists, aside=stated.radius), images=count)
    said("threshold")
    hit = found.within(stated.radius).ends
    right = int((hit[:, 1] - hit[:, 0] == count - COPIES).sum())
    cost = {
        "vectors": count,
        "width": width,
        "cells": 0 if room.cells is None else len(room.cells),
        "cosines_a_vector": near.products / count,
        "seconds": seconds,
        "threads": torch.get_num_threads(),
        "peak_GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "planted": COPIES,
        "found": len(hit),
        "stated": [stated.low, stated.precision, stated.high],
        "precision": right / max(1, len(hit)),
        "recall": right / COPIES,
        "copies_in_cells_looked_at": float(positives.looked.mean()),
    }
    record = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    record.setdefault("cost", {})
    record["cost"] = {**(record["cost"] or {}), f"{count}": cost}
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(cost))
