"""How well orders mix shards that are sorted by class: ours, litdata's and webdataset's.

`scripts/bench shards order [FOLDER]`: small real shards are written to the folder. It counts, over
the global batches in the middle of an epoch, how many others of its batch come from a sample's
own shard, and how many classes a batch has.
"""

import json
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import torch

from bench.report import Bar, finish
from bench.shards.order_peers import WORKERS, peer_batches, write_chunks, write_tars
from counterpoint.data.lane_choice import chosen_lanes
from counterpoint.data.order import BLOCK_SHARDS, Order

SHARDS, COUNT, CLASSES, BATCH = 256, 1000, 128, 512
FIRST, STEPS = 60, 160  # batches that are looked at: a loader's buffers are full by then
RESULT = Path(__file__).parents[2] / "docs" / "results" / "shards-order.json"


def quality(batches: list[list[int]]) -> dict[str, float]:
    """Count partners of the same shard and classes, on average over batches."""
    partners, classes = [], []
    for batch in batches:
        met = Counter(sample // COUNT for sample in batch)
        partners.append(sum(n * (n - 1) for n in met.values()) / len(batch))
        classes.append(len({sample // COUNT * CLASSES // SHARDS for sample in batch}))
    return {
        "same-shard partners": statistics.fmean(partners),
        "classes in a batch": statistics.fmean(classes),
        "batches": len(batches),
    }


def ours(lanes: int, block: int) -> list[list[int]]:
    """Return the global batches of our order."""
    counts = torch.full((SHARDS,), COUNT)
    order = Order(SHARDS * COUNT, BATCH, 0, lanes=lanes, block_shards=block, counts=counts)
    return [order.whole(step).tolist() for step in range(FIRST, STEPS)]


def peer(way: str, folder: Path, ranks: int) -> list[list[int]]:
    """Return the global batches of a peer."""
    found = peer_batches(way, folder, ranks=ranks, batch=BATCH, steps=STEPS)
    assert len({n for batch in found for n in batch}) == sum(map(len, found)), "a sample came twice"
    return found[FIRST:]


def main(arguments: list[str]) -> None:
    """Measure all orders, and write the result."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments[0] if arguments else temporary)
        if not (folder / "chunks" / "index.json").is_file():
            write_tars(folder / "tars", SHARDS, COUNT)
            write_chunks(folder / "chunks", SHARDS, COUNT)
        default, _ = chosen_lanes(batch=BATCH, shards=SHARDS, mixed=False)
        rows = {"global permutation": quality(ours(1, SHARDS))}
        for lanes, block in ((default, BLOCK_SHARDS), (32, 8), (32, 4), (32, 2), (32, 1), (8, 1)):
            name = f"{lanes} lanes x {block}" + (" (the default)" if lanes == default else "")
            rows[name] = quality(ours(lanes, block))
        for way, place in (("litdata", "chunks"), ("webdataset", "tars")):
            for ranks in (1, 4):
                name = f"{way}, {ranks} x {WORKERS} workers"
                rows[name] = quality(peer(way, folder / place, ranks))
    RESULT.write_text(
        json.dumps(
            {"shards": SHARDS, "samples a shard": COUNT, "classes": CLASSES, "batch": BATCH}
            | {"orders": rows},
            indent=1,
        )
        + "\n"
    )
    figures = {f"{name}: {key}": row[key] for name, row in rows.items() for key in row}
    best = min(row["same-shard partners"] for name, row in rows.items() if "workers" in name)
    mine = next(row for name, row in rows.items() if "default" in name)
    chance = rows["global permutation"]["same-shard partners"]
    bars = [
        Bar("partners by default over the best peer's", mine["same-shard partners"] / best, 1.0),
        Bar("partners by default over chance", mine["same-shard partners"] / chance, 1.1),
    ]
    finish("shards order", figures, bars)
