"""One method, each of its five parts changed alone."""

from dataclasses import replace

from counterpoint.parts.encoders import NarrowResNet
from counterpoint.parts.extraction import Compare, Pooled
from counterpoint.parts.losses import NCE, Penalised, Triplet
from counterpoint.parts.similarity import Bilinear, Cosine, ProjectedCosine
from counterpoint.parts.views import HorizontalFlip, Pipeline, pipelines
from counterpoint.study.studies.scales import NARROW, SEEDS, WIDE, Scale, part_json, resnet, trial
from counterpoint.study.trial import Trial, seeds

BASE = {"paper": "amdim", "small": "amdim-small"}
"""With its own encoder AMDIM is the best of the small tables (docs/results.md, table 1)."""
TAU = 0.2  # of MoCo v2 (Chen et al. 2020b) and simclr-small


def one_part_study(scale: Scale) -> list[Trial]:
    """Return AMDIM as it is, and with one part of another kind, at equal images seen."""
    changes = [("as it is", ()), *((f"{p}: {n}", ((p, t),)) for p, n, t in variants(scale))]
    base = replace(trial(scale, BASE[scale]), encoder=part_json(WIDE[scale]), column="AMDIM")
    trials = [replace(base, name=f"parts {row}", swaps=swaps, row=row) for row, swaps in changes]
    return [one for cell in trials for one in seeds(cell, SEEDS[scale])]


def variants(scale: Scale) -> list[tuple[str, str, str]]:
    """List part, name and JSON of every change."""
    amdim = pipelines.amdim_views(32)
    flipped = Pipeline((HorizontalFlip(0.5), amdim.stages[-1]), evaluation=amdim.evaluation)
    found = [
        ("views", "SimCLR's", pipelines.simclr_views(32)),
        ("views", "MoCo's", pipelines.moco_views(32)),
        ("views", "flips only", flipped),
        ("encoder", "ResNet-18", resnet("resnet18", scale)),
        ("encoder", "narrow ResNet", NARROW if scale == "small" else NarrowResNet()),
        ("extraction", "pooled", Pooled()),
        ("extraction", "last only", Compare.parse("(-1:-1)")),
        ("extraction", "same level", Compare.parse("(k:k)")),
        ("similarity", "cosine", Cosine(tau=TAU)),
        ("similarity", "projected cosine", ProjectedCosine(tau=TAU)),
        ("similarity", "bilinear", Bilinear()),
        ("loss", "no penalty", NCE()),
        ("loss", "positive not below the line", Penalised(of=NCE(denominator="negatives"))),
        ("loss", "triplet", Triplet()),
    ]
    return [(part, name, part_json(made)) for part, name, made in found]
