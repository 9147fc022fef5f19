"""NT-Xent, forward and backward: ours, lightly's, and the plainest dense loss.

Times alternate in one process and are compared as ratios of medians; memory is the peak above
the inputs, each in a fresh process.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.report import Bar, finish

TAU, WIDTH = 0.5, 128
Loss = Callable[[Tensor, Tensor], Tensor]


def ours() -> Loss:
    from counterpoint.framework import ALONE, Comparison
    from counterpoint.parts.losses import NCE
    from counterpoint.parts.similarity import Cosine

    phi, nce = Cosine(tau=TAU).build(WIDTH, WIDTH), NCE()

    def loss(first: Tensor, second: Tensor) -> Tensor:
        z = torch.cat([first, second])
        images = torch.arange(len(first)).repeat(2)
        comparison = Comparison(
            anchors=z, candidates=z, anchor_identity=images, candidate_identity=images, itself=0
        )
        terms = nce(phi(comparison, ALONE))
        return terms.total / terms.count

    return loss


def lightly() -> Loss:
    from lightly.loss import NTXentLoss

    loss: Loss = NTXentLoss(temperature=TAU)
    return loss


def dense() -> Loss:
    def loss(first: Tensor, second: Tensor) -> Tensor:
        z = F.normalize(torch.cat([first, second]), dim=1)
        scores = z @ z.T / TAU
        scores.fill_diagonal_(-torch.inf)
        return F.cross_entropy(scores, torch.arange(len(z)).roll(len(first)))

    return loss


LOSSES = {"ours": ours, "lightly": lightly, "dense": dense}


def inputs(pairs: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    first, second = torch.randn(2, pairs, WIDTH)
    return first.requires_grad_(), second.requires_grad_()


def once(loss: Loss, pairs: tuple[Tensor, Tensor]) -> tuple[float, float]:
    """Return the seconds of one forward and backward, and the loss."""
    for z in pairs:
        z.grad = None
    started = time.perf_counter()
    value = loss(*pairs)
    value.backward()
    return time.perf_counter() - started, value.item()


def compare(names: tuple[str, ...], pairs: int, repeats: int) -> dict[str, float]:
    """Alternate the losses and give each one's median seconds; they must agree in value."""
    made = {name: LOSSES[name]() for name in names}
    z = inputs(pairs)
    values = {name: once(made[name], z)[1] for name in names}  # also the warm-up
    if max(values.values()) - min(values.values()) > 1e-4:
        raise AssertionError(f"the losses differ: {values}")
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            times[name].append(once(made[name], z)[0])
    return {name: statistics.median(taken) for name, taken in times.items()}


def peak(name: str, pairs: int) -> float:
    """Return the peak megabytes above the inputs, from a fresh process."""
    command = [sys.executable, "-m", "bench.loss", "--peak", name, str(pairs)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(answer.splitlines()[-1]))


def measure_peak(name: str, pairs: int) -> None:
    measure_peak_of(LOSSES[name](), pairs)


def measure_peak_of(loss: Loss, pairs: int) -> None:
    """Print the peak megabytes of one forward and backward above the inputs."""
    once(loss, inputs(64))  # what libraries allocate once
    z = inputs(pairs)
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    once(loss, z)
    print(json.dumps((_memory("VmHWM") - before) / 1024))


def _memory(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def main() -> None:
    large = compare(("ours", "lightly"), 8192, repeats=3)
    small = compare(("ours", "lightly"), 512, repeats=30)
    middle = compare(("ours", "dense"), 4096, repeats=7)
    ours_mb, lightly_mb, huge_mb = peak("ours", 8192), peak("lightly", 8192), peak("ours", 32768)
    huge = once(ours(), inputs(32768))[0]
    figures = {
        "8192 pairs, ours, s": large["ours"],
        "8192 pairs, lightly, s": large["lightly"],
        "8192 pairs, ours, MB": ours_mb,
        "8192 pairs, lightly, MB": lightly_mb,
        "512 pairs, ours, s": small["ours"],
        "512 pairs, lightly, s": small["lightly"],
        "4096 pairs, ours, s": middle["ours"],
        "4096 pairs, dense, s": middle["dense"],
        "32768 pairs, ours, s": huge,
        "32768 pairs, ours, MB": huge_mb,
        "threads": float(torch.get_num_threads()),
    }
    bars = [
        Bar("8192 pairs: time, of lightly's", large["ours"] / large["lightly"], 0.15),
        Bar("8192 pairs: memory, of lightly's", ours_mb / lightly_mb, 1 / 30),
        Bar("512 pairs: time, of lightly's", small["ours"] / small["lightly"], 1.0),
        Bar("4096 pairs: time, of dense cross_entropy's", middle["ours"] / middle["dense"], 0.5),
        Bar("32768 pairs: MB above the inputs", huge_mb, 350),
    ]
    finish("loss", figures, bars)


if __name__ == "__main__":
    if "--peak" in sys.argv:
        measure_peak(sys.argv[2], int(sys.argv[3]))
    else:
        main()
