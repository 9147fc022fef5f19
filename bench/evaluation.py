"""Probes against scikit-learn, kNN against its bare operators, embedding against the encoder.

`scripts/bench evaluation [RUN]`: on real CIFAR-10 with the weights of a run, or random ones.
Rounds alternate in one process.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from bench.report import Bar, finish
from counterpoint.data import Splits, open_data
from counterpoint.evaluation import Representation, knn, linear, mlp
from counterpoint.framework import Draw
from counterpoint.framework.model import Model
from counterpoint.methods import simclr_small
from counterpoint.run import Run

BANK, QUERIES, WIDTH, K = 50_000, 10_000, 512, 200
ROUNDS, SOME = 3, 8_000


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def knn_against_bare() -> tuple[dict[str, float], list[Bar]]:
    """The same chunks through matmul and topk alone."""
    bank, queries = F.normalize(torch.randn(BANK, WIDTH)), F.normalize(torch.randn(QUERIES, WIDTH))
    labels = torch.randint(10, (BANK,))

    def bare() -> None:
        for part in queries.split(1000):
            (part @ bank.T).topk(K, dim=1)

    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _memory()
    ours = [seconds(lambda: knn(bank, labels, queries, k=K))]
    peak = _memory() - before
    theirs = [seconds(bare)]
    for _ in range(ROUNDS - 1):
        ours.append(seconds(lambda: knn(bank, labels, queries, k=K)))
        theirs.append(seconds(bare))
    ratio = statistics.median(ours) / statistics.median(theirs)
    figures = {"knn, s": statistics.median(ours), "matmul + topk, s": statistics.median(theirs)}
    bars = [Bar("knn over matmul + topk", ratio, 1.5), Bar("knn, peak MB above inputs", peak, 1000)]
    return figures, bars


def embedding_against_bare(model: Model, splits: Splits) -> tuple[dict[str, float], list[Bar]]:
    """The bare encoder on views that were made before, in the same batches."""
    represent, images = Representation(model), splits.test.images[:4000]  # type: ignore[union-attr]
    quiet = model.views.evaluation
    views = [quiet(part, Draw(0, 0, torch.arange(len(part)))) for part in images.split(500)]
    encoder = represent.encoder.eval()

    @torch.inference_mode()
    def bare() -> None:
        for view in views:
            encoder(view)

    bare()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: represent(images)))
        theirs.append(seconds(bare))
    speed = {"embedding, images/s": len(images) / statistics.median(ours)}
    speed["bare encoder, images/s"] = len(images) / statistics.median(theirs)
    share = statistics.median(theirs) / statistics.median(ours)
    return speed, [Bar("bare encoder's time over embedding's, negative", -share, -0.95)]


def probes_against_sklearn(model: Model, splits: Splits) -> tuple[dict[str, float], list[Bar]]:
    """Accuracies on the same embeddings, in points."""
    represent = Representation(model)
    known, held, asked = (
        (represent(part.images[:SOME]), part.labels[:SOME])  # type: ignore[union-attr, index]
        for part in (splits.train, splits.validation, splits.test)
    )
    ours = linear(known, held)
    scale = StandardScaler().fit(known[0].numpy())
    data, answers = (scale.transform(x[0].numpy()) for x in (known, asked))
    truth = asked[1].numpy()
    logistic = LogisticRegression(C=1 / (len(data) * ours.settings["penalty"]), max_iter=1000)
    linear_theirs = logistic.fit(data, known[1].numpy()).score(answers, truth)
    perceptron = MLPClassifier((1024,), early_stopping=True, random_state=0, max_iter=30)
    mlp_theirs = perceptron.fit(data, known[1].numpy()).score(answers, truth)
    pairs = {
        "knn": (_accuracy(knn(*known, asked[0], k=20), asked[1]), _their_knn(known, asked)),
        "linear": (ours.accuracy(asked), linear_theirs),
        "mlp": (mlp(known, held).accuracy(asked), mlp_theirs),
    }
    figures = {f"{n}, ours": p[0] for n, p in pairs.items()}
    figures |= {f"{n}, scikit-learn": p[1] for n, p in pairs.items()}
    gaps = {name: 100 * abs(a - b) for name, (a, b) in pairs.items()}
    # Two MLPs of other optimisers are two draws: theirs may be worse, ours must not be.
    gaps["mlp"] = 100 * max(0.0, pairs["mlp"][1] - pairs["mlp"][0])
    return figures, [Bar(f"{name}, points apart", gap, 0.3) for name, gap in gaps.items()]


def _their_knn(known: tuple[Tensor, Tensor], asked: tuple[Tensor, Tensor]) -> float:
    theirs = KNeighborsClassifier(
        20,
        algorithm="brute",
        weights=lambda d: torch.exp(-(torch.tensor(d) ** 2) / 2 / 0.1).numpy(),
    )  # of unit vectors: 1 - cos = distance^2 / 2
    theirs.fit(F.normalize(known[0]).numpy(), known[1].numpy())
    return float(theirs.score(F.normalize(asked[0]).numpy(), asked[1].numpy()))


def _accuracy(predicted: Tensor, true: Tensor) -> float:
    return float((predicted == true).double().mean())


def _memory() -> float:
    """The peak megabytes since the last reset."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    torch.manual_seed(0)
    splits = open_data(Path(os.environ["COUNTERPOINT_DATA"]) / "cifar10")
    fresh = simclr_small().build(image=(3, 32, 32))
    model = Run.open(sys.argv[1]).model if len(sys.argv) > 1 else fresh
    figures: dict[str, float] = {}
    bars: list[Bar] = []
    for measure in (
        knn_against_bare,
        lambda: embedding_against_bare(model, splits),
        lambda: probes_against_sklearn(model, splits),
    ):
        some, limits = measure()
        figures |= some
        bars += limits
    finish("evaluation", figures, bars)


if __name__ == "__main__":
    main()
