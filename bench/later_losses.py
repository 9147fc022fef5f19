"""The losses that came after the paper, forward and backward, beside NT-Xent: time and memory.

Times alternate in one process and are compared as ratios of medians; memory is the peak above
the inputs, each in a fresh process. `python -m bench.later_losses PAIRS` tries it on fewer pairs.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable

import torch
from torch import Tensor

from bench.loss import inputs, measure_peak_of, once
from bench.report import Bar, finish
from counterpoint.framework import ALONE, Comparison, Loss, Remembered, Similarity
from counterpoint.framework.records import NOBODY, only_positive
from counterpoint.parts.losses import (
    NCE,
    AlignmentUniformity,
    HardNegatives,
    NearestEntropy,
    RelationalCrossEntropy,
    Sigmoid,
    Spectral,
    WeightedPositives,
)
from counterpoint.parts.similarity import BallDot, Biased, Cosine

WIDTH, PAIRS, REPEATS = 128, 8192, 3
QUEUED = 2  # vectors of a queue for each pair: an anchor has as many candidates as in a batch
LOSSES: dict[str, tuple[Similarity, Loss]] = {
    "nt-xent": (Cosine(tau=0.5), NCE()),
    "dcl": (Cosine(tau=0.1), NCE(denominator="negatives")),
    "dclw": (Cosine(tau=0.1), WeightedPositives()),
    "debiased": (Cosine(tau=0.5), HardNegatives(beta=0.0)),
    "hcl": (Cosine(tau=0.5), HardNegatives(beta=1.0)),
    "siglip": (Biased(of=Cosine(tau=0.1, learn_tau=True)), Sigmoid()),
    "spectral": (BallDot(mu=1.0), Spectral()),
    "alignuniform": (Cosine(tau=1.0), AlignmentUniformity()),
    "sscd": (Cosine(tau=0.05), NearestEntropy(of=NCE())),
    "ressl": (Cosine(tau=0.1), RelationalCrossEntropy()),
}
WITH_QUEUE = ("ressl",)


def made(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """Build a loss as a function of two views."""
    similarity, settings = LOSSES[name]
    phi = similarity.build(WIDTH, WIDTH)
    built = settings.build(phi.bound)

    def queued(first: Tensor, second: Tensor) -> Tensor:
        own = only_positive(torch.arange(len(first)))
        old = torch.randn(QUEUED * len(first), WIDTH, generator=torch.Generator().manual_seed(1))
        compared = Comparison(
            anchors=first,
            candidates=second.detach(),
            anchor_identity=own,
            candidate_identity=own,
            remembered=Remembered(old, torch.full((len(old),), NOBODY)),
        )
        terms = built(phi(compared, ALONE), ALONE)
        return terms.total / terms.count

    def loss(first: Tensor, second: Tensor) -> Tensor:
        z, images = torch.cat([first, second]), torch.arange(len(first)).repeat(2)
        views = (len(first), len(second))
        compared = Comparison(
            anchors=z,
            candidates=z,
            anchor_identity=images,
            candidate_identity=images,
            itself=0,
            anchor_views=views,
            candidate_views=views,
        )
        terms = built(phi(compared, ALONE), ALONE)
        return terms.total / terms.count

    return queued if name in WITH_QUEUE else loss


def seconds(pairs: int) -> dict[str, float]:
    """Alternate all losses and give each one's median seconds."""
    losses, z = {name: made(name) for name in LOSSES}, inputs(pairs)
    for loss in losses.values():
        once(loss, z)  # the warm-up
    taken: dict[str, list[float]] = {name: [] for name in losses}
    for _ in range(REPEATS):
        for name, loss in losses.items():
            taken[name].append(once(loss, z)[0])
    return {name: statistics.median(times) for name, times in taken.items()}


def megabytes(name: str, pairs: int) -> float:
    """Return the peak above the inputs, from a fresh process."""
    command = [sys.executable, "-m", "bench.later_losses", "--peak", name, str(pairs)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(answer.splitlines()[-1]))


def main(pairs: int) -> None:
    times = seconds(pairs)
    figures = {f"{pairs} pairs, {name}, s": taken for name, taken in times.items()}
    memory = {name: megabytes(name, pairs) for name in LOSSES}
    figures |= {f"{pairs} pairs, {name}, MB": taken for name, taken in memory.items()}
    figures["threads"] = float(torch.get_num_threads())
    later = [name for name in LOSSES if name != "nt-xent"]
    bars = [Bar(f"{n}: time, of NT-Xent's", times[n] / times["nt-xent"], 2.0) for n in later]
    bars += [Bar(f"{name}: MB above the inputs", memory[name], 100) for name in later]
    finish("later-losses", figures, bars)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        measure_peak_of(made(sys.argv[2]), int(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else PAIRS)
