"""Checkpoints of a large model with Adam: what training waits for, and what a resume reads.

Two or more processes on gloo share a disk. The blocking writer (rank 0 writes everything, all wait)
and the threads take turns in one run. `checkpoints --weights N --ranks W --rounds R --out FILE`.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BAR = 0.10  # of the time of the blocking writer


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="checkpoints")
    parser.add_argument("--weights", type=int, default=300_000_000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--out", default="docs/results/ranks-checkpoints.json")
    parser.add_argument("--child", type=int, default=None)
    options = parser.parse_args(arguments)
    if options.child is not None:
        rank_main(options)
        return
    place = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        found = measured(options, place)
    finally:
        shutil.rmtree(place)
    text = json.dumps(found, indent=1)
    Path(options.out).write_text(text + "\n")
    print(text)
    missed = found["wait_share"] > BAR or found["hashed_over_bytes"] > 1.001
    sys.exit(1 if missed else 0)


def measured(options: argparse.Namespace, place: Path) -> dict[str, Any]:
    """Run the ranks as processes of their own, and put together what each found."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "bench.ranks.checkpoints", "--folder", str(place)]
    command += ["--weights", str(options.weights), "--ranks", str(options.ranks)]
    command += ["--rounds", str(options.rounds)]
    environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment |= {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen([*command, "--child", str(rank)], env=environment, stdout=subprocess.PIPE)
        for rank in range(options.ranks)
    ]
    said = [json.loads(rank.communicate()[0]) for rank in ranks]
    blocking = [max(times) for times in zip(*(one["blocking"] for one in said), strict=True)]
    waits = [max(times) for times in zip(*(one["waits"] for one in said), strict=True)]
    waits = [max(one["first"] for one in said), *waits]
    share = (sum(waits) / len(waits)) / (sum(blocking) / len(blocking))
    size = said[0]["bytes"]
    return {
        "weights": options.weights,
        "ranks": options.ranks,
        "bytes": size,
        "blocking_s": rounded(blocking),
        "wait_s": rounded(waits),
        "written_s": rounded(said[0]["written"]),
        "wait_share": round(share, 4),
        "bar": BAR,
        "resume_s": round(max(one["resume"] for one in said), 2),
        "hashed_over_bytes": round(sum(one["hashed"] for one in said) / size, 4),
        "equal": all(one["equal"] for one in said),
        "torch": said[0]["torch"],
    }


def rounded(times: list[float]) -> list[float]:
    return [round(one, 3) for one in times]


def rank_main(options: argparse.Namespace) -> None:
    """Save in turns by both writers, then resume; print what was found as JSON."""
    import torch
    import torch.distributed as dist

    from counterpoint.training.checkpoints import Checkpoints, hashed
    from counterpoint.training.checkpoints.background import BackgroundSaves
    from counterpoint.training.checkpoints.talk import Talk
    from counterpoint.training.checkpoints.together import read_together

    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=options.child, world_size=options.ranks)
    place, talk = Checkpoints(Path(options.folder) / "run"), Talk.of_job(torch.device("cpu"))
    saves = BackgroundSaves(place, talk, alike=lambda _: True)
    state = state_of(options.weights)
    said: dict[str, Any] = {"blocking": [], "waits": [], "written": [], "torch": torch.__version__}
    # A run asks for the memory of its copies in a thread, minutes before its first checkpoint.
    averages = [t for one in state["optimizer_states"][0]["state"].values() for t in one.values()]
    saves.prepare([*state["state_dict"].values(), *averages])
    saves.stage.ready()
    said["first"], _ = asynchronous(saves, 1, state)
    for turn in range(options.rounds):
        dist.barrier()
        start = time.monotonic()
        if talk.rank == 0:
            place.save(10 * turn + 2, state)
        dist.barrier()
        said["blocking"].append(time.monotonic() - start)
        wait, written = asynchronous(saves, 10 * turn + 3, state)
        said["waits"].append(wait)
        said["written"].append(written)
    step = place.folder / f"step-{10 * (options.rounds - 1) + 3:08d}"
    said["bytes"] = sum(file.stat().st_size for file in step.iterdir())
    wanted = sums(state)
    del saves, state  # or there would be two of each in memory
    said["hashed"] = 0
    count_hashed(hashed, said)
    dist.barrier()
    start = time.monotonic()
    found = read_together(step, talk)
    said["resume"] = time.monotonic() - start
    said["equal"] = sums(found) == wanted
    dist.barrier()
    dist.destroy_process_group()
    print(json.dumps(said))


def asynchronous(saves: Any, step: int, state: dict[str, Any]) -> tuple[float, float]:
    """Save by the threads; give the time that training waits, and until all is written."""
    import torch.distributed as dist

    dist.barrier()
    start = time.monotonic()
    why = saves.begin(step, state)
    wait = time.monotonic() - start
    why = why or saves.settle()
    assert not why, why
    return wait, time.monotonic() - start


def state_of(weights: int) -> dict[str, Any]:
    """Make weights and both averages of Adam, in layers of at most 16 million, as in a ViT."""
    import torch

    sizes = [16_000_000] * (weights // 16_000_000) + [weights % 16_000_000]
    layers = [size for size in sizes if size]
    generator = torch.Generator().manual_seed(0)
    made = {
        kind: [torch.randn(size // 1000, 1000, generator=generator) for size in layers]
        for kind in ("weight", "exp_avg", "exp_avg_sq")
    }
    averages = {
        n: {kind: made[kind][n] for kind in ("exp_avg", "exp_avg_sq")} for n in range(len(layers))
    }
    return {
        "state_dict": {f"layer.{n}": made["weight"][n] for n in range(len(layers))},
        "optimizer_states": [{"state": averages}],
    }


def sums(state: dict[str, Any]) -> list[int]:
    """Return sums of the bits of all weights: what comes back must have the same."""
    import torch

    return [int(tensor.view(torch.int32).sum()) for tensor in state["state_dict"].values()]


def count_hashed(hashed: Any, said: dict[str, Any]) -> None:
    """Count the bytes that this process hashes while it reads."""
    true = hashed.hashlib.sha256

    class Counting:
        def __init__(self) -> None:
            self.hash = true()

        def update(self, data: Any) -> None:
            said["hashed"] += len(data)
            self.hash.update(data)

        def hexdigest(self) -> str:
            return str(self.hash.hexdigest())

    class Hashes:
        sha256 = Counting

    hashed.hashlib = Hashes


if __name__ == "__main__":
    main(sys.argv[1:])
