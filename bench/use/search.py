"""Search in a million real vectors: recall, time and memory, beside exact and beside bare faiss.

`scripts/bench use search FOLDER`: FOLDER holds the vectors. `bench/use/million.py` makes them,
which takes half an hour on one core. Each way is measured in a process of its own.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bench.report import Bar, finish
from bench.use.million import million_vectors
from counterpoint.framework.permutation import drawn
from counterpoint.search.ivfpq_index import INDEX, build_index, open_index, parts_digest
from counterpoint.search.nearest_vectors import nearest_rows, recall
from counterpoint.search.vector_search import in_pieces
from counterpoint.vectors import Vectors

QUERIES, SINGLE, NEAR, SEED = 1_000, 30, 10, 17
WAYS = ("exact", "ivfpq", "faiss flat", "faiss ivfpq")


def peak() -> float:
    """The most memory this process had, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


Search = Callable[[Tensor, Tensor], Tensor]


def opened(way: str, vectors: Vectors) -> Search:
    """Return a function of queries and their rows that gives the ten nearest rows of each."""
    if way == "exact":
        matrix = list(in_pieces(vectors))
        return lambda q, rows: nearest_rows(q, matrix, count=NEAR, without=rows).rows
    if way == "ivfpq":
        index = open_index(vectors, build=False)
        return lambda q, rows: index.nearest(q, count=NEAR, without=rows).rows
    import faiss

    if way == "faiss flat":
        bare = faiss.IndexFlatIP(vectors.width)
        for part in vectors.parts():
            bare.add(F.normalize(part.vectors.float(), dim=1).numpy())
    else:
        bare = faiss.read_index(str(vectors.folder / INDEX))
        bare.nprobe = json.loads((vectors.folder / "index.json").read_text())["probes"]

    def search(q: Tensor, rows: Tensor) -> Tensor:
        found = torch.from_numpy(bare.search(F.normalize(q, dim=1).numpy(), NEAR + 1)[1])
        kept = [one[one != row][:NEAR] for one, row in zip(found, rows, strict=True)]
        return torch.stack(kept)

    return search


def child(way: str, folder: Path, out: Path) -> None:
    """Measure one way in this process; the queries are read from a file."""
    torch.set_num_threads(1)
    stored = np.load(out / "queries.npz")
    queries, rows = torch.from_numpy(stored["queries"]), torch.from_numpy(stored["rows"])
    vectors = Vectors.open(folder)
    started = time.perf_counter()
    search = opened(way, vectors)
    ready = time.perf_counter() - started
    one_by_one = []
    for n in range(SINGLE):
        started = time.perf_counter()
        search(queries[n : n + 1], rows[n : n + 1])
        one_by_one.append(time.perf_counter() - started)
    started = time.perf_counter()
    found = search(queries, rows)
    batch = time.perf_counter() - started
    np.save(out / f"{way}.npy", found.numpy())
    print(
        json.dumps(
            {
                "ready, s": round(ready, 2),
                "one query, ms": round(1e3 * statistics.median(one_by_one), 2),
                "1,000 queries, s": round(batch, 2),
                "memory, MB": round(peak()),
            }
        )
    )


def build(folder: Path) -> None:
    """Build the index in this process, and say what that takes."""
    torch.set_num_threads(1)
    vectors = Vectors.open(folder)
    started = time.perf_counter()
    made = build_index(vectors, parts_digest(vectors))
    took = time.perf_counter() - started
    size = (folder / INDEX).stat().st_size / 2**20
    record = made.record
    print(
        json.dumps(
            {
                "build, s": round(took, 1),
                "build memory, MB": round(peak()),
                "index, MB": round(size, 1),
                "cells": record.cells,
                "probes": record.probes,
                "code, bytes": record.code,
                "recall when built": round(record.recall, 4),
            }
        )
    )


def fresh(*words: object) -> dict[str, float]:
    """Run a part of this file in a process of its own."""
    command = [sys.executable, "-m", "bench.use.search", *map(str, words)]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: list[str]) -> None:
    place = Path(arguments[0] if arguments else "tmp-vectors").resolve()
    folder = million_vectors(place)
    vectors = Vectors.open(folder)
    rows = drawn(vectors.count, QUERIES, seed=SEED)
    np.savez(place / "queries.npz", queries=vectors.matrix()[rows].float(), rows=rows)
    figures: dict[str, float] = {"vectors": vectors.count, "numbers each": vectors.width}
    figures |= {f"ivfpq, {name}": value for name, value in fresh("build", folder).items()}
    for way in WAYS:
        found = fresh("child", way, folder, place)
        figures |= {f"{way}, {name}": value for name, value in found.items()}
    true = torch.from_numpy(np.load(place / "exact.npy"))
    for way in WAYS[1:]:
        found = recall(torch.from_numpy(np.load(place / f"{way}.npy")), true)
        figures[f"{way}, recall@10 of exact"] = round(found, 4)
    missed = 1 - figures["ivfpq, recall@10 of exact"]
    finish("use search", figures, [Bar("neighbours that ivfpq misses", missed, 0.05)])


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]))
    else:
        child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
