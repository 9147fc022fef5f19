"""What helps in Invention: one thing changed at a time, on validation images."""

from dataclasses import replace

from counterpoint.framework import Method, codec
from counterpoint.methods.invention import invention_small
from counterpoint.methods.ricercar import ricercar_small
from counterpoint.parts.encoders import Headed, NarrowResNet, PerView
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.views import pipelines
from counterpoint.study import Flops, Trial
from counterpoint.study.trial import pairs, seeds

SEARCHED = NarrowResNet(widths=(32, 64, 128))
"""The encoder of the search."""
INVENTION = invention_small(SEARCHED)
LARGER_CROPS = pipelines.cmc_views(20, smallest=0.25, evaluation=32)
"""Crops with the side of those of `cmc-small`."""
CMC_SCORE = Cosine(tau=0.1)
"""The similarity of `cmc-small`."""
HALF = Headed(of=SEARCHED, out=128)
SMALL_VECTORS = PerView(of=(HALF, HALF))


def study() -> list[Trial]:
    """Return all rows seed by seed, so that a study that is stopped has whole seeds."""
    method, rate = INVENTION, 0.01
    rows = [
        _row("Invention", method, rate),
        _row("crops of 20 pixels", method.swap(views=LARGER_CROPS), rate),
        _row("CMC's cosine", method.swap(similarity=CMC_SCORE), rate),
        _row("vectors of 128 numbers", method.swap(encoder=SMALL_VECTORS), rate),
        _row(
            "CMC's cosine, vectors of 128 numbers",
            method.swap(similarity=CMC_SCORE, encoder=SMALL_VECTORS),
            rate,
        ),
        _row(
            "all three: CMC with this rate",
            method.swap(views=LARGER_CROPS, similarity=CMC_SCORE, encoder=SMALL_VECTORS),
            rate,
        ),
        _row("rate 0.005", method, 0.005),
        _row("rate 0.02", method, 0.02),
        _row("Ricercar", ricercar_small(SEARCHED), 0.01),
        _row("Ricercar, rate 0.02", ricercar_small(SEARCHED), 0.02),
    ]
    rows += [
        replace(_row(words, method, 0.01), kind="random")
        for words, method in (
            ("random weights, two networks", INVENTION),
            ("random weights, one network", ricercar_small(SEARCHED)),
        )
    ]
    return [trial for one in zip(*(seeds(row, 3) for row in rows), strict=True) for trial in one]


def _row(words: str, method: Method, rate: float) -> Trial:
    """Return a trial as those of the search: equal operations, no test images."""
    return Trial(
        method=codec.to_text(codec.encode(method)),
        data="$COUNTERPOINT_DATA/cifar10",
        budget=Flops(3e12),
        training=pairs(
            {"batch": 128, "lr": rate, "optimiser": "adamw", "weight_decay": 0.05, "epochs": 6}
        ),
        probes=("linear", "knn"),
        untested=True,
        name=f"parts of Invention, {words}",
        row=words,
        column="CIFAR-10",
    )
