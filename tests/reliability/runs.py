"""What a run leaves behind, for comparing it with another bit for bit."""

import hashlib
import json


def losses_of(folder, *, ranks):
    """Every loss by step and rank; a step that was made twice must have had the same loss."""
    found = []
    for rank in range(ranks):
        seen = {}
        for line in (folder / f"losses.{rank}").read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # half a line: killed while writing it
                continue
            now = (record["loss"], record["epoch"], record["samples"])
            assert seen.setdefault(record["step"], now) == now, (rank, record)
            seen[record["step"]] = now
        found.append(seen)
    return found


def end_of(run):
    """Hash every tensor and number of the last checkpoint, the weights, receipts and metrics."""
    last = max((run / "checkpoints").glob("step-*"))
    files = [
        last / "state.safetensors",
        last / "state.json",
        run / "model.safetensors",
        run / "receipts.jsonl",
        run / "metrics.csv",
    ]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files} | {
        "last": last.name
    }
