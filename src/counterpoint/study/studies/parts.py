"""One method, each of its five parts changed alone."""

from counterpoint.parts.encoders import ResNet
from counterpoint.parts.extraction import Compare
from counterpoint.parts.losses import NCE, Triplet
from counterpoint.parts.similarity import Bilinear, Cosine, ProjectedCosine, ScaledDot
from counterpoint.parts.views import pipelines
from counterpoint.study.studies.scales import (
    BUDGET,
    CIFAR10,
    PROBES,
    RATES,
    SEEDS,
    WIDE,
    Scale,
    text,
)
from counterpoint.study.trial import Trial, seeds

BASE = {"paper": "simclr", "small": "simclr-small"}
SIDE = {"paper": 32, "small": 20}  # of the base's views


def parts(scale: Scale) -> list[Trial]:
    """Give SimCLR as it is, and with one part of another kind, at equal images seen."""
    changes = [("as it is", ()), *((f"{p}: {n}", ((p, t),)) for p, n, t in variants(scale))]
    trials = [
        Trial(
            name=f"parts {row}",
            method=BASE[scale],
            swaps=swaps,
            data=CIFAR10,
            budget=BUDGET[scale],
            rates=RATES[scale],
            probes=PROBES[scale],
            row=row,
            column="SimCLR",
        )
        for row, swaps in changes
    ]
    return [one for trial in trials for one in seeds(trial, SEEDS[scale])]


def variants(scale: Scale) -> list[tuple[str, str, str]]:
    """List part, name and JSON of every change."""
    stem = "imagenet" if scale == "small" else "small"
    tau = 0.2 if scale == "small" else 0.5  # the base's own
    found = [
        ("views", "AMDIM's", pipelines.amdim(32)),
        ("views", "MoCo's", pipelines.moco(SIDE[scale], evaluation=32)),
        ("encoder", "ResNet-18", ResNet("resnet18", stem=stem)),  # type: ignore[arg-type]
        ("extraction", "places of the last map", Compare.parse("(-1:-1)")),
        ("extraction", "same level", Compare.parse("(k:k)")),
        ("similarity", "cosine without a head", Cosine(tau=tau)),
        ("similarity", "bilinear", Bilinear()),
        ("similarity", "scaled dot", ScaledDot(clip=20.0)),
        ("similarity", "tau learned", ProjectedCosine(tau=tau, learn_tau=True)),
        ("loss", "positive not below the line", NCE(denominator="negatives")),
        ("loss", "triplet", Triplet()),
    ]
    if scale == "paper":
        found.append(("encoder", "wide", WIDE[scale]))
    return [(part, name, text(made)) for part, name, made in found]
