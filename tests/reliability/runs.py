"""What a run leaves behind, for comparing it with another bit for bit."""

import hashlib
import json

from counterpoint.training.checkpoints import Checkpoints
from counterpoint.training.checkpoints.divided_rows import DividedRows
from counterpoint.training.checkpoints.encoding import encode_state
from counterpoint.training.checkpoints.tensors import pieces


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
    tensors, plain = encode_state(Checkpoints(last.parent).load(last))
    divided = {name: t for name, t in tensors.items() if isinstance(t, DividedRows)}
    assert all(rows.whole for rows in divided.values())  # one process reads the rows of all ranks
    tensors |= {name: rows.own for name, rows in divided.items()}
    state = [json.dumps(plain).encode(), *map(bytes, pieces(tensors))]
    files = [run / "model.safetensors", run / "receipts.jsonl", run / "metrics.csv"]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files} | {
        "last": last.name,
        "files": sorted(file.name for file in last.iterdir()),
        "state": hashlib.sha256(b"".join(state)).hexdigest(),
    }
